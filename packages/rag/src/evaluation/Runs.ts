/** Runs every question through retrieval methods: metrics, latency and cost. */
import { Array, Duration, Effect, Stream } from "effect"
import type { RagError } from "../document/RagError.ts"
import type { MeasuredQueries } from "./Comparison.ts"
import type { UsageMeter, ModelUse } from "./MeteredModels.ts"
import { type Judgements, meanOf, measureOne, type RunMetrics } from "./Metrics.ts"

/** Gives identifiers for a question, best first. */
export interface RetrievalMethod {
  readonly name: string
  /** Timed and metered. */
  readonly search: (question: string) => Effect.Effect<ReadonlyArray<string>, RagError>
  /** The rest of the ranking, down to the depth of the deepest metric. Neither timed nor metered. */
  readonly rest?: (question: string) => Effect.Effect<ReadonlyArray<string>, RagError>
}

/** A question with its relevant documents. */
export interface JudgedQuestion {
  readonly text: string
  readonly judgements: Judgements
  /** Maps an identifier to the judged one: several passages may be the same answer, which counts at its first rank. */
  readonly judgedAs?: (id: string) => string
}

/** The results of a method. */
export interface EvaluatedRun {
  /** `default`: no options set. */
  readonly name: string
  readonly metrics: RunMetrics
  /** Per question, in milliseconds. */
  readonly latency: { readonly p50: number; readonly p95: number }
  /** For all questions together. */
  readonly cost: ModelUse
}

/** All runs, and the metrics of each question in each of them. */
export interface Measured {
  readonly queries: number
  readonly runs: ReadonlyArray<EvaluatedRun>
  readonly each: ReadonlyArray<MeasuredQueries>
}

/** Runs each question through each method in turn. Blank questions, which some published collections have, find nothing. */
export const measureMethods = Effect.fn("Runs.measure")(function* <E, R>(
  methods: ReadonlyArray<RetrievalMethod>,
  questions: Stream.Stream<JudgedQuestion, E, R>,
  meter: UsageMeter,
  onQuestion: (asked: number) => Effect.Effect<void> = () => Effect.void
) {
  const running = methods.map((method) => ({
    method,
    each: Array.empty<RunMetrics>(),
    milliseconds: Array.empty<number>(),
    cost: { embeddingCalls: 0, rerankCalls: 0, tokens: 0 }
  }))
  let asked = 0
  yield* Stream.runForEach(questions, ({ judgedAs, judgements, text }) =>
    Effect.gen(function* () {
      for (const run of running) {
        const { each, method, milliseconds } = run
        if (text.trim() === "") {
          each.push(measureOne([], judgements))
          continue
        }
        yield* meter.take
        const [duration, head] = yield* Effect.timed(method.search(text))
        milliseconds.push(Duration.toMillis(duration))
        run.cost = sum(run.cost, yield* meter.take)
        const tail = method.rest === undefined ? [] : yield* method.rest(text)
        const ranking = [...head, ...tail]
        const judged = new Set(judgedAs === undefined ? ranking : ranking.map(judgedAs))
        each.push(measureOne([...judged], judgements))
      }
      yield* onQuestion(++asked)
    })
  )
  const measured: Measured = {
    queries: running[0]?.each.length ?? 0,
    runs: running.map(({ cost, each, method: { name }, milliseconds }) => {
      const sorted = milliseconds.toSorted((a, b) => a - b)
      const latency = { p50: percentile(sorted, 0.5), p95: percentile(sorted, 0.95) }
      return { name, metrics: meanOf(each), latency, cost }
    }),
    each: running.map(({ each, method: { name } }) => ({ name, each }))
  }
  return measured
})

const sum = (a: ModelUse, b: ModelUse): ModelUse => ({
  embeddingCalls: a.embeddingCalls + b.embeddingCalls,
  rerankCalls: a.rerankCalls + b.rerankCalls,
  tokens: a.tokens + b.tokens
})

/** 0 without values. */
const percentile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
