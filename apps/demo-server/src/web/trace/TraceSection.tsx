/** How the answer's passages were found, as a picture or as a table. */
import { useState } from "preact/hooks"
import type { Trace } from "../../contract/index.ts"
import { TraceChart } from "./TraceChart.tsx"
import { TraceTable } from "./TraceTable.tsx"

interface Props {
  readonly passages: Trace["passages"]
  /** Absent until the answer is whole. */
  readonly trace: Trace | undefined
}

/** How many of them each of the two ways found. */
const foundBy = (passages: Trace["passages"]): string => {
  const both = passages.filter(({ keywordRank, vectorRank }) => keywordRank && vectorRank).length
  const vector = passages.filter(({ keywordRank, vectorRank }) => vectorRank && !keywordRank).length
  const words = passages.filter(({ keywordRank, vectorRank }) => keywordRank && !vectorRank).length
  const ways = [
    ...(both > 0 ? [`${both} by vector and keywords`] : []),
    ...(vector > 0 ? [`${vector} by the vector alone`] : []),
    ...(words > 0 ? [`${words} by keywords alone`] : [])
  ]
  return ways.length === 0 ? "" : `: ${ways.join(", ")}`
}

const FUSIONS = {
  Rrf: "reciprocal ranks",
  MinMax: "scores",
  Dense: "the vector alone",
  Keywords: "keywords alone"
} as const

const Caption = ({ passages, trace }: Props) => {
  const kept = passages.filter((each) => each.kept)
  const climbed = Math.max(0, ...kept.map((each) => each.recallRank - each.rerankRank))
  return (
    <p>
      {passages.length} recalled{foundBy(passages)}, reranked in one call
      {trace !== undefined && `, ${kept.length} kept`}.
      {climbed > 1 && ` The furthest of the kept rose ${climbed} places.`}
    </p>
  )
}

export const TraceFigure = ({ passages, trace }: Props) => {
  const [asTable, setAsTable] = useState(false)
  const reranked = passages.toSorted((a, b) => a.rerankRank - b.rerankRank)
  return (
    <section class="trace" aria-labelledby="trace-title">
      <div class="trace-head">
        <h2 id="trace-title">What passed the gate</h2>
        <button class="link" type="button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? "As a picture" : "As a table"}
        </button>
        <Caption passages={passages} trace={trace} />
      </div>
      {asTable ? <TraceTable passages={reranked} /> : <TraceChart recalled={passages} reranked={reranked} />}
      {trace !== undefined && (
        <p class="quiet">
          Embedded by {trace.embeddingModel}, ordered by {FUSIONS[trace.fusion._tag]}, reranked by{" "}
          {trace.rerankModel}
          {trace.readerModel === undefined ? "" : `, read by ${trace.readerModel}`}.
        </p>
      )}
    </section>
  )
}
