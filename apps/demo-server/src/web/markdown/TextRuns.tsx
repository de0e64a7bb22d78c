/** Runs of text, with what is quoted marked. */
import type { Run } from "./inline.ts"

type Mark = { readonly start: number; readonly end: number } | undefined

interface Props {
  readonly text: string
  readonly runs: ReadonlyArray<Run>
  readonly mark: Mark
}

/** A run, cut where the mark begins and ends. */
const cut = (run: Run, mark: Mark): Array<Run & { readonly marked: boolean }> => {
  const from = Math.max(run.start, mark?.start ?? run.end)
  const to = Math.min(run.end, mark?.end ?? run.end)
  if (mark === undefined || from >= to) return [{ ...run, marked: false }]
  return [
    { ...run, end: from, marked: false },
    { ...run, start: from, end: to, marked: true },
    { ...run, start: to, marked: false }
  ].filter((piece) => piece.end > piece.start)
}

const Piece = ({
  marked,
  text,
  run
}: {
  readonly marked: boolean
  readonly text: string
  readonly run: Run
}) => {
  const plain = marked ? <mark>{text}</mark> : <>{text}</>
  const coded = run.code ? <code>{plain}</code> : plain
  const strong = run.strong ? <strong>{coded}</strong> : coded
  const emphasis = run.emphasis ? <em>{strong}</em> : strong
  return run.href === undefined ? (
    emphasis
  ) : (
    <a href={run.href} target="_blank" rel="noreferrer">
      {emphasis}
    </a>
  )
}

export const Runs = ({ mark, runs, text }: Props) => (
  <>
    {runs.flatMap((run) =>
      cut(run, mark).map((piece) => (
        <Piece
          key={piece.start}
          marked={piece.marked}
          run={piece}
          text={text.slice(piece.start, piece.end)}
        />
      ))
    )}
  </>
)
