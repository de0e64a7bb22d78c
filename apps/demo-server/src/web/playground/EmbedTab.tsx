/** Compares two texts by the cosine of their vectors. */
import { createEmbeddings } from "../api/gateway.ts"
import { makeCall } from "../page/calls.ts"
import { persisted } from "../page/persisted.ts"
import { embedSnippet } from "../snippets/text.ts"
import { TextField } from "../ui/Fields.tsx"
import { pluralize } from "../ui/format.ts"
import { CallForm, modelOf } from "./CallForm.tsx"

type Vector = ReadonlyArray<number>

const first = persisted("embed.first", "The lower gate is opened when the levels are even.")
const second = persisted("embed.second", "When are the gates of the lock opened?")

const requestBody = () => ({ model: modelOf("embed"), input: [first.value, second.value] })

interface Comparison {
  readonly vectors: readonly [Vector, Vector]
  /** -1 to 1; undefined if a vector is all zeros. */
  readonly cosine: number | undefined
  readonly tokens: number | undefined
}

const comparison = makeCall<Comparison>("The texts were compared.")

const dot = (a: Vector, b: Vector): number => a.reduce((sum, x, at) => sum + x * (b[at] ?? 0), 0)

const cosineOf = (a: Vector, b: Vector): number | undefined => {
  const lengths = Math.sqrt(dot(a, a) * dot(b, b))
  return lengths === 0 ? undefined : dot(a, b) / lengths
}

const compare = (): Promise<void> =>
  comparison.run(async (signal) => {
    const { data, usage } = await createEmbeddings(requestBody(), signal)
    const vectorAt = (index: number): Vector => {
      const vector = data.find((each) => each.index === index)?.embedding ?? []
      return typeof vector === "string" ? [] : vector
    }
    const vectors = [vectorAt(0), vectorAt(1)] as const
    return { vectors, cosine: cosineOf(...vectors), tokens: usage?.total_tokens }
  })

/** The size of the drawing; it is stretched to the width of the page. */
const STRIP = { marks: 128, height: 28 } as const

/** Groups neighbouring numbers; each group is shown by the one furthest from zero. */
const marksOf = (vector: Vector): Vector => {
  const marks = Array.from<number>({ length: Math.min(STRIP.marks, vector.length) }).fill(0)
  for (const [at, value] of vector.entries()) {
    const mark = Math.floor((at * marks.length) / vector.length)
    if (Math.abs(value) > Math.abs(marks[mark] ?? 0)) marks[mark] = value
  }
  return marks
}

/** A vector as bars, up for positive numbers and down for negative ones. */
const VectorStrip = ({ label, vector }: { readonly label: string; readonly vector: Vector }) => {
  const marks = marksOf(vector)
  const largest = Math.max(...marks.map(Math.abs), Number.EPSILON)
  const middle = STRIP.height / 2
  return (
    <div class="strip">
      <span class="quiet">{label}</span>
      <svg viewBox={`0 0 ${marks.length} ${STRIP.height}`} preserveAspectRatio="none" aria-hidden="true">
        <line x1={0} x2={marks.length} y1={middle} y2={middle} />
        {marks.map((value, at) => {
          const height = (Math.abs(value) / largest) * middle
          return value === 0 ? null : (
            <rect
              key={at}
              x={at + 0.15}
              width={0.7}
              y={value > 0 ? middle - height : middle}
              height={height}
            />
          )
        })}
      </svg>
    </div>
  )
}

const Result = ({ cosine, tokens, vectors: [first, second] }: Comparison) => (
  <figure class="compared">
    <p class="figure">
      <span class="amount">{cosine === undefined ? "–" : cosine.toFixed(3)}</span>
      <span class="quiet">
        {cosine === undefined
          ? "The model knows no word of one of the texts."
          : "cosine similarity: 1 means the same direction, 0 means nothing in common"}
      </span>
    </p>
    <VectorStrip vector={first} label="First text" />
    <VectorStrip vector={second} label="Second text" />
    <figcaption class="quiet">
      {pluralize(first.length, "dimension")}
      {tokens === undefined ? "" : `, ${pluralize(tokens, "token")}`}
    </figcaption>
  </figure>
)

export const EmbedTab = () => {
  const now = comparison.now.value
  return (
    <CallForm
      capability="embed"
      call={comparison}
      action="Compare"
      onSubmit={compare}
      snippet={embedSnippet(location.origin, requestBody())}
      fields={
        <div class="pair">
          <TextField label="First text" rows={3} text={first} />
          <TextField label="Second text" rows={3} text={second} />
        </div>
      }
    >
      {now.value !== undefined && <Result {...now.value} />}
    </CallForm>
  )
}
