/** Compares two texts by the cosine of their vectors. */
import type { EmbeddingResponse } from "@sluice/core/contract"
import { createEmbeddings } from "../api/gateway.ts"
import { makeCall } from "../page/calls.ts"
import { persisted } from "../page/persisted.ts"
import { embedSnippet } from "../snippets/calls.ts"
import { TextField } from "../ui/Fields.tsx"
import { pluralize } from "../ui/format.ts"
import { modelOf, type Tab } from "./Tab.tsx"

type Vector = ReadonlyArray<number>

const first = persisted("embed.first", "The lower gate is opened when the levels are even.")
const second = persisted("embed.second", "When are the gates of the lock opened?")

const requestBody = () => ({ model: modelOf("embed"), input: [first.value, second.value] })

const comparison = makeCall<EmbeddingResponse>("The texts were compared.")

const vectorAt = (index: number, { data }: EmbeddingResponse): Vector => {
  const vector = data.find((each) => each.index === index)?.embedding ?? []
  return typeof vector === "string" ? [] : vector
}

const dot = (a: Vector, b: Vector): number => a.reduce((sum, x, at) => sum + x * (b[at] ?? 0), 0)

/** -1 to 1; undefined if a vector is all zeros. */
const cosineOf = (a: Vector, b: Vector): number | undefined => {
  const lengths = Math.sqrt(dot(a, a) * dot(b, b))
  return lengths === 0 ? undefined : dot(a, b) / lengths
}

/** The drawing is stretched to the width of the page. */
const BARS = 128

/** At most `BARS` bars; each shows the number furthest from zero of its part of the vector. */
const barsOf = (vector: Vector): Vector => {
  const bars = Array.from<number>({ length: Math.min(BARS, vector.length) }).fill(0)
  for (const [at, value] of vector.entries()) {
    const bar = Math.floor((at * bars.length) / vector.length)
    if (Math.abs(value) > Math.abs(bars[bar] ?? 0)) bars[bar] = value
  }
  return bars
}

const VectorStrip = ({ label, vector }: { label: string; vector: Vector }) => {
  const bars = barsOf(vector)
  const largest = Math.max(...bars.map(Math.abs), Number.EPSILON)
  return (
    <div class="strip">
      <span class="quiet">{label}</span>
      <svg viewBox={`0 -1 ${bars.length} 2`} preserveAspectRatio="none" aria-hidden="true">
        <line x2={bars.length} />
        {bars.map((value, at) => {
          const height = Math.abs(value) / largest
          return <rect key={at} x={at + 0.15} width={0.7} y={value > 0 ? -height : 0} height={height} />
        })}
      </svg>
    </div>
  )
}

const Result = () => {
  const { value } = comparison.now.value
  if (value === undefined) return null
  const [first, second] = [vectorAt(0, value), vectorAt(1, value)]
  const cosine = cosineOf(first, second)
  return (
    <figure class="stack compared">
      <p class="row baseline figure">
        <span class="amount">{cosine?.toFixed(3) ?? "–"}</span>
        <span class="quiet">
          {cosine === undefined
            ? "The model has no vector for one of the texts."
            : "cosine similarity: 1 means the same direction, 0 means nothing in common"}
        </span>
      </p>
      <VectorStrip vector={first} label="First text" />
      <VectorStrip vector={second} label="Second text" />
      <figcaption class="quiet">
        {pluralize(first.length, "dimension")}
        {value.usage?.total_tokens !== undefined && `, ${pluralize(value.usage.total_tokens, "token")}`}
      </figcaption>
    </figure>
  )
}

export const embedTab: Tab = {
  name: "Embed",
  lead: "Compare two texts.",
  call: comparison,
  action: "Compare",
  submit: () => comparison.run((signal) => createEmbeddings(requestBody(), signal)),
  snippet: () => embedSnippet(location.origin, requestBody()),
  Fields: () => (
    <div class="pair">
      <TextField label="First text" rows={3} text={first} />
      <TextField label="Second text" rows={3} text={second} />
    </div>
  ),
  Result
}
