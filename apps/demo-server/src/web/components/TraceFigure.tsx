/**
 * The trace as a picture: passages as the embeddings recalled them on the left, as the reranker ordered them on the
 * right, before them the gate: planks where it is shut, three rows where it is open.
 */
import { useRef, useState } from "preact/hooks"
import type { Trace } from "../../contract/index.ts"
import { openPassage } from "../state/source.ts"
import { TraceDetail } from "./TraceDetail.tsx"
import { TraceGate } from "./TraceGate.tsx"
import { TraceLines } from "./TraceLines.tsx"
import { TraceRow } from "./TraceRow.tsx"
import { TraceTable } from "./TraceTable.tsx"

interface Props {
  readonly passages: Trace["passages"]
  /** Absent until the answer is whole. */
  readonly trace: Trace | undefined
}

const Caption = ({ passages, trace }: Props) => {
  const kept = passages.filter((each) => each.kept)
  const climbed = Math.max(0, ...kept.map((each) => each.recallRank - each.rerankRank))
  return (
    <p>
      {passages.length} recalled by embeddings, reranked in one call
      {trace !== undefined && `, ${kept.length} kept`}.
      {climbed > 1 && ` The furthest of the kept rose ${climbed} places.`}
    </p>
  )
}

export const TraceFigure = ({ passages, trace }: Props) => {
  const [shown, setShown] = useState<string | undefined>(undefined)
  const [asTable, setAsTable] = useState(false)
  const chart = useRef<HTMLDivElement>(null)
  const reranked = [...passages].toSorted((a, b) => a.rerankRank - b.rerankRank)
  const active = passages.find(({ passage }) => passage.id === shown) ?? reranked[0]

  const onKeyDown = (event: KeyboardEvent) => {
    const rows = [...(chart.current?.querySelectorAll<HTMLButtonElement>(".trace-recalled button") ?? [])]
    const at = rows.findIndex((row) => row === document.activeElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key]
    if (at === -1 || to === undefined) return
    event.preventDefault()
    rows[Math.max(0, Math.min(rows.length - 1, to))]?.focus()
  }

  return (
    <section class="trace" aria-labelledby="trace-title">
      <div class="trace-head">
        <h2 id="trace-title">What passed the gate</h2>
        <button class="link" type="button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? "As a picture" : "As a table"}
        </button>
        <Caption passages={passages} trace={trace} />
      </div>
      {asTable ? (
        <TraceTable passages={reranked} />
      ) : (
        <>
          <div class="trace-chart" ref={chart} style={{ "--rows": passages.length }}>
            <span class="trace-label">by similarity</span>
            <span class="trace-label">by the reranker</span>
            <ol class="trace-recalled" aria-label="Recalled, by similarity">
              {passages.map((each) => (
                <TraceRow
                  key={each.passage.id}
                  traced={each}
                  side="recalled"
                  active={each === active}
                  onShow={() => setShown(each.passage.id)}
                  onOpen={() => openPassage(each)}
                  onKeyDown={onKeyDown}
                />
              ))}
            </ol>
            <TraceLines passages={passages} active={active?.passage.id} />
            <TraceGate rows={reranked.map(({ kept }) => kept)} />
            <ol class="trace-reranked" aria-hidden="true">
              {reranked.map((each) => (
                <TraceRow
                  key={each.passage.id}
                  traced={each}
                  side="reranked"
                  active={each === active}
                  onShow={() => setShown(each.passage.id)}
                  onOpen={() => openPassage(each)}
                />
              ))}
            </ol>
          </div>
          {active !== undefined && <TraceDetail traced={active} />}
        </>
      )}
      {trace !== undefined && (
        <p class="quiet">
          Embedded by {trace.embeddingModel}, reranked by {trace.rerankModel}
          {trace.readerModel === undefined ? "" : `, read by ${trace.readerModel}`}.
        </p>
      )}
    </section>
  )
}
