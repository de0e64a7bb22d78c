/** How the answer was made: the time of each stage, and how its sources were chosen. */
import type { Trace } from "../../contract/index.ts"
import { isDemo } from "../page/status.ts"
import { openPassage } from "../source/source.ts"
import { LinkButton } from "../ui/Button.tsx"
import { duration, locationText, pluralize, usd } from "../ui/format.ts"
import { DataTable, useTableToggle } from "../ui/DataTable.tsx"
import { TraceChart, type TraceProps } from "./TraceChart.tsx"

const NAMES: Readonly<Record<string, string>> = { look: "figures", read: "answer" }

/** Stages that take less than a millisecond are not shown. */
const QUICK = new Set(["fuse", "dedupe", "select"])

/** The time of each stage, as the parts of one bar. `cost` is in quota units; undefined until it is known. */
export const StageTimes = ({ cost, stages }: { cost: number | undefined; stages: Trace["stages"] }) => {
  if (stages.length === 0) return null
  const total = stages.reduce((sum, { milliseconds }) => sum + milliseconds, 0)
  return (
    <figure class="row stages soft">
      <figcaption>
        {duration(total)}
        {cost !== undefined && (
          <span class="cost soft" title="Taken from your balance">
            {usd(cost)}
            {isDemo.value && " demo credit"}
          </span>
        )}
      </figcaption>
      <ul class="row">
        {stages
          .filter(({ stage }) => !QUICK.has(stage))
          .map(({ failed, milliseconds, stage }) => (
            <li
              key={stage}
              data-stage={stage}
              title={failed}
              style={{ flexGrow: Math.max(milliseconds / (total || 1), 0.02) }}
            >
              <span class="name">{NAMES[stage] ?? stage}</span>{" "}
              <span class="time">{duration(milliseconds)}</span>
              {failed !== undefined && <span class="problem">failed</span>}
            </li>
          ))}
      </ul>
      {stages.map(({ sql, stage }) => sql !== undefined && <pre key={stage}>{sql}</pre>)}
    </figure>
  )
}

type Props = { readonly passages: Trace["passages"]; readonly trace: Trace | undefined }

const FUSIONS = {
  Rrf: "reciprocal ranks",
  MinMax: "normalized scores",
  Dense: "vectors only",
  Keywords: "keywords only"
} as const

/** `20 passages recalled, reranked and narrowed to the best 3.` */
const Summary = ({ passages, trace }: Props) => {
  const kept = passages.filter((each) => each.kept)
  const repeats = passages.filter(({ sameAs }) => sameAs !== undefined).length
  const candidates = trace?.candidates ?? 0
  const rise = Math.max(0, ...kept.map((each) => passages.indexOf(each) + 1 - each.rerankRank))
  return (
    <p class="soft">
      {pluralize(passages.length, "passage")} recalled
      {candidates > passages.length && ` out of ${candidates} candidates`}
      {repeats > 0 && `, ${repeats} of them near-duplicates`}
      {trace === undefined ? "." : `. The best ${kept.length} were kept after reranking.`}
      {rise > 1 && ` Reranking moved one of them up ${rise} places.`}
    </p>
  )
}

const COLUMNS = ["Reranked", "Fused", "Vector", "Keywords", "Passage", "Score", "Kept"]

const TraceTable = ({ recalled, reranked }: TraceProps) => (
  <DataTable label="Passages" columns={COLUMNS}>
    {reranked.map((traced) => (
      <tr key={traced.passage.id} data-kept={traced.kept}>
        <td>{traced.rerankRank}</td>
        <td>{recalled.indexOf(traced) + 1}</td>
        <td>{traced.vectorRank ?? "–"}</td>
        <td>{traced.keywordRank ?? "–"}</td>
        <th scope="row">
          <LinkButton onClick={() => openPassage(traced)}>
            {locationText(traced.passage.document.title, traced.passage)}
          </LinkButton>
        </th>
        <td>{traced.rerankScore?.toFixed(3) ?? "–"}</td>
        <td>{traced.kept ? "yes" : ""}</td>
      </tr>
    ))}
  </DataTable>
)

export const TraceSection = ({ passages, trace }: Props) => {
  const { asTable, toggle } = useTableToggle()
  const Shown = asTable ? TraceTable : TraceChart
  const reranked = passages.toSorted((a, b) => a.rerankRank - b.rerankRank)
  const scores = reranked.map(({ rerankScore }) => rerankScore ?? 0)
  const isByScore = scores.every((score, at) => score <= (scores[at - 1] ?? score))
  return (
    <section class="trace" aria-labelledby="trace-title">
      <div class="row baseline trace-head">
        <h2 id="trace-title">How sources were chosen</h2>
        {toggle}
        <Summary passages={passages} trace={trace} />
      </div>
      <Shown recalled={passages} reranked={reranked} />
      {trace?.parts !== undefined && <p class="quiet">Searched separately: {trace.parts.join(" · ")}</p>}
      {trace !== undefined && (
        <p class="quiet">
          Embedding: {trace.embeddingModel}. Fusion: {FUSIONS[trace.fusion._tag]}. Reranking:{" "}
          {trace.rerankModel}.{isByScore ? "" : " The order also counts keyword scores."}
          {trace.readerModel !== undefined && ` Answer: ${trace.readerModel}.`}
        </p>
      )}
    </section>
  )
}
