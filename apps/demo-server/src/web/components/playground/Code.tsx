/** Source text, its strings and comments told apart. */
const TOKEN =
  /(?<comment>(?:^|(?<=\s))(?:\/\/|#).*$)|(?<string>"(?:\\.|[^"\\])*"|'(?:[^'\\]|\\.)*'|`(?:\\.|[^`\\])*`)|(?<word>\b(?:import|from|const|yield|for|of|function|curl|until|do|done)\b)/gm

export const Code = ({ text }: { readonly text: string }) => {
  const parts = []
  let at = 0
  for (const match of text.matchAll(TOKEN)) {
    parts.push(text.slice(at, match.index))
    const kind = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined)?.[0]
    parts.push(<span data-token={kind}>{match[0]}</span>)
    at = match.index + match[0].length
  }
  parts.push(text.slice(at))
  return (
    // What scrolls can be scrolled by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre tabIndex={0}>
      <code>{parts}</code>
    </pre>
  )
}
