/** Measures search methods: asks each of them every question. */
import { Duration, Effect, Stream } from "effect"
import type { RagError } from "../document/RagError.ts"
import type { MeasuredQueries } from "./Comparison.ts"
import type { UsageMeter, ModelUse } from "./MeteredModels.ts"
import { type Judgements, meanOf, measureOne, type RunMetrics } from "./Metrics.ts"

/** A search method, such as BM25 or a configuration of the retriever. It returns identifiers, best first. */
export interface SearchMethod {
  readonly name: string
  /** Its time and cost are measured. */
  readonly search: (question: string) => Effect.Effect<ReadonlyArray<string>, RagError>
  /** The rest of the ranking, down to the depth of the deepest metric. Not measured. */
  readonly rest?: (question: string) => Effect.Effect<ReadonlyArray<string>, RagError>
}

export interface JudgedQuestion {
  readonly text: string
  readonly judgements: Judgements
  /** The judged name of an identifier. If several passages are one answer, it counts at the rank of the first. */
  readonly judgedAs?: (id: string) => string
}

export interface EvaluatedRun {
  /** `default` is the retriever without any options. */
  readonly name: string
  readonly metrics: RunMetrics
  /** Of one question, in milliseconds. */
  readonly latency: { readonly p50: number; readonly p95: number }
  /** Of all questions together. */
  readonly cost: ModelUse
}

/** Asks every search method each question. Blank questions, which published collections have, find nothing. */
export const measureMethods = Effect.fn("Runs.measure")(function* <E, R>(
  methods: ReadonlyArray<SearchMethod>,
  questions: Stream.Stream<JudgedQuestion, E, R>,
  meter: UsageMeter,
  onQuestion: (asked: number) => Effect.Effect<void> = () => Effect.void
) {
  const results = methods.map(({ name }) => ({
    name,
    each: Array.of<RunMetrics>(),
    milliseconds: Array.of<number>(),
    cost: { embeddingCalls: 0, rerankCalls: 0, tokens: 0 }
  }))
  let asked = 0
  yield* Stream.runForEach(questions, ({ judgedAs = (id: string) => id, judgements, text }) =>
    Effect.gen(function* () {
      for (const [i, { rest, search }] of methods.entries()) {
        const { cost, each, milliseconds } = results[i]!
        if (text.trim() === "") {
          each.push(measureOne([], judgements))
          continue
        }
        yield* meter.take
        const [duration, first] = yield* Effect.timed(search(text))
        milliseconds.push(Duration.toMillis(duration))
        const use = yield* meter.take
        cost.embeddingCalls += use.embeddingCalls
        cost.rerankCalls += use.rerankCalls
        cost.tokens += use.tokens
        const ranking = [...first, ...(rest === undefined ? [] : yield* rest(text))].map(judgedAs)
        each.push(measureOne([...new Set(ranking)], judgements))
      }
      yield* onQuestion(++asked)
    })
  )
  return {
    queries: results[0]?.each.length ?? 0,
    runs: results.map(({ cost, each, milliseconds, name }): EvaluatedRun => ({
      name,
      metrics: meanOf(each),
      latency: { p50: percentile(milliseconds, 0.5), p95: percentile(milliseconds, 0.95) },
      cost
    })),
    each: results.map(({ each, name }): MeasuredQueries => ({ name, each }))
  }
})

/** The value below which `share` of the values are; 0 without any. */
export const percentile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))] ?? 0
