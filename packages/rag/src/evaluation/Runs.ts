/** Ways of retrieving, each asked every question: what they reach, how long they take, what they cost. */
import { Duration, Effect, Stream } from "effect"
import type { RagError } from "../document/RagError.ts"
import type { MeasuredQueries } from "./Comparison.ts"
import type { UsageMeter, ModelUse } from "./MeteredModels.ts"
import { type Judgements, meanOf, measureOne, type RunMetrics } from "./Metrics.ts"

/** A way of retrieving: identifiers, best first. */
export interface Way {
  readonly name: string
  /** What is timed and paid. */
  readonly search: (question: string) => Effect.Effect<ReadonlyArray<string>, RagError>
  /** What comes behind it in the ranking, down to the depth of the deepest metric; neither timed nor counted. */
  readonly rest?: (question: string) => Effect.Effect<ReadonlyArray<string>, RagError>
}

/** A question and what answers it. */
export interface JudgedQuestion {
  readonly text: string
  readonly judgements: Judgements
  /** Under which name an identifier is judged: several passages may be one answer, which counts where it comes first. */
  readonly judgedAs?: (id: string) => string
}

/** What a way of retrieving reached. */
export interface EvaluatedRun {
  /** `default` is what a user gets who sets nothing. */
  readonly name: string
  readonly metrics: RunMetrics
  /** Of one question, in milliseconds. */
  readonly latency: { readonly p50: number; readonly p95: number }
  /** Of all questions together. */
  readonly cost: ModelUse
}

/** All runs, and what each question came to in each of them. */
export interface Measured {
  readonly queries: number
  readonly runs: ReadonlyArray<EvaluatedRun>
  readonly each: ReadonlyArray<MeasuredQueries>
}

interface Ledger {
  readonly each: Array<RunMetrics>
  readonly milliseconds: Array<number>
  cost: ModelUse
}

/** Asks every question of every way in turn. Blank questions, as published collections have them, find nothing. */
export const measureWays = Effect.fn("Runs.measure")(function* <E, R>(
  ways: ReadonlyArray<Way>,
  questions: Stream.Stream<JudgedQuestion, E, R>,
  meter: UsageMeter,
  onQuestion: (asked: number) => Effect.Effect<void> = () => Effect.void
) {
  const ledgers = ways.map((): Ledger => ({
    each: [],
    milliseconds: [],
    cost: { embeddingCalls: 0, rerankCalls: 0, tokens: 0 }
  }))
  let asked = 0
  yield* Stream.runForEach(questions, ({ judgedAs, judgements, text }) =>
    Effect.gen(function* () {
      for (const [i, way] of ways.entries()) {
        const ledger = ledgers[i]!
        if (text.trim() === "") {
          ledger.each.push(measureOne([], judgements))
          continue
        }
        yield* meter.take
        const [duration, head] = yield* Effect.timed(way.search(text))
        ledger.milliseconds.push(Duration.toMillis(duration))
        ledger.cost = sum(ledger.cost, yield* meter.take)
        const tail = way.rest === undefined ? [] : yield* way.rest(text)
        const ranking = [...head, ...tail]
        const judged = new Set(judgedAs === undefined ? ranking : ranking.map(judgedAs))
        ledger.each.push(measureOne([...judged], judgements))
      }
      yield* onQuestion(++asked)
    })
  )
  const measured: Measured = {
    queries: ledgers[0]?.each.length ?? 0,
    runs: ways.map(({ name }, i) => {
      const { cost, each, milliseconds } = ledgers[i]!
      const sorted = milliseconds.toSorted((a, b) => a - b)
      return {
        name,
        metrics: meanOf(each),
        latency: { p50: percentile(sorted, 0.5), p95: percentile(sorted, 0.95) },
        cost
      }
    }),
    each: ways.map(({ name }, i) => ({ name, each: ledgers[i]!.each }))
  }
  return measured
})

const sum = (a: ModelUse, b: ModelUse): ModelUse => ({
  embeddingCalls: a.embeddingCalls + b.embeddingCalls,
  rerankCalls: a.rerankCalls + b.rerankCalls,
  tokens: a.tokens + b.tokens
})

/** The value below which `share` of the sorted values are; 0 without any. */
const percentile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
