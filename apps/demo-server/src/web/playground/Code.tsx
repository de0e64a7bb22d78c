/** Source text, its strings and comments told apart. */
import { Scroller } from "../ui/Scroller.tsx"

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
    <Scroller class="listing" label="Listing">
      <pre>
        <code>{parts}</code>
      </pre>
    </Scroller>
  )
}
