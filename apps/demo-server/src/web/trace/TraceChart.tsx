/**
 * The trace as a chart: passages by fused rank on the left, by reranked rank on the right, and between them the gate, with
 * a plank in front of every passage that is not kept.
 */
import { useRef, useState } from "preact/hooks"
import type { Trace } from "../../contract/index.ts"
import { plainText } from "../markdown/inline.ts"
import { openPassage } from "../source/source.ts"
import { figureLabel, locationText } from "../ui/format.ts"

type Passages = Trace["passages"]

/** The passage under the pointer, its row, and whether there is more room above it than below. */
interface Pointed {
  readonly traced: Passages[number]
  readonly row: number
  readonly above: boolean
}

interface RowProps {
  readonly traced: Passages[number]
  /** Its place on this side, from 1. */
  readonly place: number
  readonly isLeft: boolean
  readonly active: boolean
  /** Whether the Tab key stops here: once for all rows. */
  readonly tabStop: boolean
  /** Shows the detail; without an element, hides it. */
  readonly onPoint: (at?: Element) => void
  readonly onKeyDown: (event: KeyboardEvent) => void
}

/** `4.2 Weir gates` as `Weir gates`: beside a rank, the number of a section reads as another rank. */
const withoutNumber = (heading: string): string =>
  heading.replace(/^(\d+(\.\d+)*\.?|[IVX]+\.)\s+(?=\p{L})/u, "")

/** Only the left side takes the keyboard focus. */
const TraceRow = ({ active, isLeft, place, tabStop, traced, ...on }: RowProps) => {
  const { keywordRank, kept, passage, rerankRank, rerankScore, vectorRank } = traced
  const heading = withoutNumber(passage.headings.at(-1) ?? passage.document.title)
  const name = passage.figure === undefined ? heading : `${figureLabel(passage.figure)}, ${heading}`
  const searches = Object.entries({ vector: vectorRank, keywords: keywordRank })
    .flatMap(([search, rank]) => (rank === undefined ? [] : `${search} ${rank}`))
    .join(", ")
  // A finger cannot point: the first touch shows the detail, the second opens the passage.
  const onClick = (event: MouseEvent) =>
    event instanceof PointerEvent && event.pointerType === "touch" && !active
      ? on.onPoint(event.currentTarget as Element)
      : openPassage(traced)
  return (
    <li data-kept={kept} data-active={active}>
      <button
        type="button"
        tabIndex={isLeft && tabStop ? 0 : -1}
        aria-label={`${name}, ${passage.document.title}. Before reranking ${place}, ${searches}; after reranking ${rerankRank}${kept ? ", kept" : ""}.`}
        onFocus={(event) => event.currentTarget.matches(":focus-visible") && on.onPoint(event.currentTarget)}
        onBlur={() => on.onPoint()}
        onPointerEnter={(event) => event.pointerType === "mouse" && on.onPoint(event.currentTarget)}
        onPointerLeave={(event) => event.pointerType === "mouse" && on.onPoint()}
        onKeyDown={on.onKeyDown}
        onClick={onClick}
      >
        <span class="rank">{place}</span>
        <span class="passage-name clipped">{name}</span>
        {isLeft && <span class="search-rank">{vectorRank ?? "–"}</span>}
        {isLeft && <span class="search-rank">{keywordRank ?? "–"}</span>}
        {!isLeft && <span class="score">{rerankScore?.toFixed(2)}</span>}
      </button>
    </li>
  )
}

/** A search returns its best passages only: a passage without a rank may still match. */
const Rank = ({ name, rank, score }: Record<"rank" | "score", number | undefined> & { name: string }) => (
  <span>
    {rank === undefined ? `not in the top ${name} matches` : name} <b>{rank}</b>
    {rank !== undefined && score !== undefined && ` (${score.toFixed(score < 1 ? 3 : 1)})`}
  </span>
)

/** Below its row, or above it. `count` is the number of rows; `place` is the rank before reranking, from 1. */
const TraceDetail = ({ above, count, place, row, traced }: Pointed & { count: number; place: number }) => {
  const { kept, passage, sameAs } = traced
  const { document, figure, text } = passage
  const rows = above ? count - row : row + 1
  return (
    <div class="card floating trace-detail" data-kept={kept} data-above={above} style={{ "--at": rows }}>
      <p class="quiet clipped">
        {figure !== undefined && `${figureLabel(figure)}, `}
        {locationText(document.title, passage)}
      </p>
      <p class="snippet clamped">{plainText(text, document.format === "markdown")}</p>
      <p class="row soft scores">
        <Rank name="vector" rank={traced.vectorRank} score={traced.similarity} />
        <Rank name="keyword" rank={traced.keywordRank} score={traced.keywordScore} />
        <Rank name="fused" rank={place} score={traced.recallScore} />
        <Rank name="reranked" rank={traced.rerankRank} score={traced.rerankScore} />
        <span>{kept ? "kept" : sameAs === undefined ? "not kept" : "repeats a kept passage"}</span>
      </p>
    </div>
  )
}

/** The passages by fused rank, and by reranked rank. */
export type TraceProps = { readonly recalled: Passages; readonly reranked: Passages }

/** The middle of a row, from 0. */
const y = (row: number): number => row + 0.5

/** A line for each passage, wider with its fused score. Drawn in rows and per cent, to fit any width. */
const Lines = ({ active, recalled, reranked }: TraceProps & { active: string | undefined }) => {
  const highest = Math.max(Number.MIN_VALUE, ...recalled.map(({ recallScore }) => recallScore))
  const rows = new Map(reranked.map(({ passage }, row) => [passage.id, row]))
  return (
    <svg
      class="trace-lines"
      viewBox={`0 0 100 ${recalled.length}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {recalled
        .map((traced, from) => ({ ...traced, from, to: rows.get(traced.passage.id) ?? from }))
        .toSorted((a, b) => Number(a.kept) - Number(b.kept))
        .map(({ from, kept, passage, recallScore, to }) => (
          <path
            key={passage.id}
            class="stream"
            data-kept={kept}
            data-active={passage.id === active}
            stroke-width={kept ? 2.5 : 0.75 + 1.5 * Math.max(0, recallScore / highest)}
            d={`M0 ${y(from)} C55 ${y(from)} 45 ${y(to)} 100 ${y(to)}`}
          />
        ))}
    </svg>
  )
}

export const TraceChart = ({ recalled, reranked }: TraceProps) => {
  const [pointed, setPointed] = useState<Pointed>()
  const chart = useRef<HTMLDivElement>(null)
  const tabStop = pointed?.traced ?? reranked[0]

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") return setPointed(undefined)
    const rows = [...(chart.current?.querySelectorAll<HTMLButtonElement>(".trace-recalled button") ?? [])]
    const at = rows.findIndex((row) => row === document.activeElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key]
    if (at === -1 || to === undefined) return
    event.preventDefault()
    rows[Math.max(0, Math.min(rows.length - 1, to))]?.focus()
  }

  const rowOf = (isLeft: boolean) => (traced: Passages[number], row: number) => (
    <TraceRow
      key={traced.passage.id}
      traced={traced}
      place={row + 1}
      isLeft={isLeft}
      active={traced === pointed?.traced}
      tabStop={traced === tabStop}
      onPoint={(at) =>
        setPointed(at && { traced, row, above: at.getBoundingClientRect().top > innerHeight / 2 })
      }
      onKeyDown={onKeyDown}
    />
  )

  return (
    <div class="trace-chart" ref={chart} style={{ "--rows": recalled.length }}>
      <span class="trace-label trace-ranks soft">
        <span>before reranking</span>
        <span class="search-rank">vector</span>
        <span class="search-rank">keyword</span>
      </span>
      <span class="trace-label soft">after reranking</span>
      <ol class="trace-recalled" aria-label="Passages before reranking">
        {recalled.map(rowOf(true))}
      </ol>
      <Lines recalled={recalled} reranked={reranked} active={pointed?.traced.passage.id} />
      <div class="trace-gate" aria-hidden="true">
        {reranked.map(({ kept, passage }) => (
          <span key={passage.id} class={kept ? "opening" : "plank"} />
        ))}
      </div>
      <ol class="trace-reranked" aria-hidden="true">
        {reranked.map(rowOf(false))}
      </ol>
      {pointed !== undefined && (
        <TraceDetail {...pointed} place={recalled.indexOf(pointed.traced) + 1} count={recalled.length} />
      )}
    </div>
  )
}
