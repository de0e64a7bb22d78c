/** Runs of text, with the quote marked. */
import { NewTabLink } from "../ui/Button.tsx"
import type { TextRun } from "./inline.ts"

export type TextMark = { readonly start: number; readonly end: number } | undefined

interface Props {
  readonly text: string
  readonly runs: ReadonlyArray<TextRun>
  readonly mark?: TextMark
}

const split = ({ host, ...run }: TextRun, mark: TextMark): Array<TextRun & { readonly marked: boolean }> => {
  const from = Math.max(run.start, mark?.start ?? run.end)
  const to = Math.min(run.end, mark?.end ?? run.end)
  const pieces =
    mark === undefined || from >= to
      ? [{ ...run, marked: false }]
      : [
          { ...run, end: from, marked: false },
          { ...run, start: from, end: to, marked: true },
          { ...run, start: to, marked: false }
        ].filter((piece) => piece.end > piece.start)
  return pieces.map((piece) => (host !== undefined && piece.end === run.end ? { ...piece, host } : piece))
}

const Piece = ({ run, text }: { run: TextRun & { marked: boolean }; text: string }) => {
  const marked = run.marked ? <mark>{text}</mark> : <>{text}</>
  const coded = run.code ? <code>{marked}</code> : marked
  const strong = run.strong ? <strong>{coded}</strong> : coded
  const emphasis = run.emphasis ? <em>{strong}</em> : strong
  if (run.href === undefined) return emphasis
  return (
    <NewTabLink href={run.href} data-host={run.host}>
      {emphasis}
    </NewTabLink>
  )
}

export const TextRuns = ({ mark, runs, text }: Props) => (
  <>
    {runs
      .flatMap((run) => split(run, mark))
      .map((run) => (
        <Piece key={run.start} run={run} text={text.slice(run.start, run.end)} />
      ))}
  </>
)
