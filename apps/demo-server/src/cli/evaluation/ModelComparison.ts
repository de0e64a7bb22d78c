/** Asks the same questions of several chat models, and compares their answers. */
import { UNITS_PER_USD, Verifier } from "@sluice/core"
import * as Embedded from "@sluice/embedded"
import { layerVision } from "@sluice/embedded/vision"
import { type Answer, Library, type LibraryService } from "@sluice/rag"
import {
  type Difference,
  type ExpectedAnswer,
  isHeldOut,
  isRight,
  type JudgedAnswer,
  judgeAnswer,
  pairedBootstrap,
  prepareQuestions
} from "@sluice/rag/evaluation"
import { Context, Duration, Effect, Layer, Option, Record, Result, Struct } from "effect"
import { groupBy } from "effect/Array"
import { Prices } from "../../billing/Prices.ts"
import { EMBEDDED_READER, layerConfiguredReader } from "../../providers/LibraryModels.ts"
import { makeChatBudget } from "./ChatBudget.ts"

interface ModelAnswer extends JudgedAnswer {
  readonly model: string
  /** The share of its sentences that the verifier supports. Undefined if none was verified. */
  readonly supported: number | undefined
  readonly tokens: number
  readonly usd: number
  readonly seconds: number
  readonly failure?: string
}

/** A value of each answer, by the name of its mean. Undefined where it does not apply. */
const VALUES = {
  right: (answer) => Number(isRight(answer)),
  correct: ({ contains, kind }) => (kind === "none" ? undefined : Number(contains)),
  cited: ({ cited, kind }) => (kind === "none" ? undefined : Number(cited)),
  abstains: (answer) => (answer.kind === "none" ? Number(isRight(answer)) : undefined),
  supported: ({ supported }) => supported,
  tokens: ({ tokens }) => tokens,
  usd: ({ usd }) => usd,
  seconds: ({ seconds }) => seconds
} satisfies Record<string, (answer: ModelAnswer) => number | undefined>

type Name = keyof typeof VALUES
export const NAMES: ReadonlyArray<Name> = Struct.keys(VALUES)

interface ModelScores {
  readonly model: string
  /** Means. Undefined without answers that have the value. */
  readonly means: { readonly [name in Name]: number | undefined }
  /** Responses, or ends of them, that were not read, by reason. */
  readonly notRead: { readonly [reason: string]: number }
  /** Of all answers. */
  readonly usd: number
}

interface ModelDifference extends Difference {
  readonly questions: number
}

export interface ModelComparison {
  readonly questions: number
  /** Questions that all models were asked. */
  readonly ran: number
  readonly missing: ReadonlyArray<string>
  readonly verifier: string
  /** Models without a price of their own: their costs are by the default price. */
  readonly unpriced: ReadonlyArray<string>
  /** Of all calls, in USD. */
  readonly spent: number
  /** Whether the next call might have passed the budget. */
  readonly stopped: boolean
  readonly models: ReadonlyArray<ModelScores>
  /** Each further model with the first one. */
  readonly comparisons: ReadonlyArray<{
    readonly a: string
    readonly b: string
    readonly differences: { readonly [name in Name]: ModelDifference }
  }>
  readonly answers: ReadonlyArray<ModelAnswer>
}

const mean = (values: ReadonlyArray<number>) =>
  values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length

const scoresOf = (model: string, answers: ReadonlyArray<ModelAnswer>): ModelScores => ({
  model,
  means: Record.map(VALUES, (valueOf) => mean(answers.flatMap((answer) => valueOf(answer) ?? []))),
  notRead: Record.map(
    groupBy(
      answers.flatMap(({ notRead }) => notRead ?? []),
      (reason): string => reason
    ),
    ({ length }) => length
  ),
  usd: answers.reduce((sum, { usd }) => sum + usd, 0)
})

const differencesOf = (a: ReadonlyArray<ModelAnswer>, b: ReadonlyArray<ModelAnswer>) =>
  Record.map(VALUES, (valueOf): ModelDifference => {
    const pairs = a.flatMap((answer, i) => {
      const [first, second] = [valueOf(answer), valueOf(b[i]!)]
      return first === undefined || second === undefined ? [] : [{ first, second }]
    })
    const difference = pairedBootstrap(
      pairs.map(({ first }) => first),
      pairs.map(({ second }) => second)
    )
    return { ...difference, questions: pairs.length }
  })

const supportedShare = ({ sentences, trace, unsupported }: Answer): number | undefined =>
  trace.stages.some(({ failed, stage }) => stage === "verify" && failed === undefined)
    ? 1 - unsupported / sentences.length
    : undefined

const failed = (expected: ExpectedAnswer): JudgedAnswer => ({
  ...Struct.pick(expected, ["id", "kind", "question"]),
  heldOut: isHeldOut(expected.id),
  answered: false,
  notRead: "failed",
  contains: false,
  cited: false,
  answer: "",
  citations: [],
  retrieved: false
})

/** `limit` questions, spread evenly over all. */
const spread = <A>(all: ReadonlyArray<A>, limit: number): ReadonlyArray<A> =>
  all.filter((_, i) => Math.floor((i * limit) / all.length) < Math.floor(((i + 1) * limit) / all.length))

/** The embedded OCR, and the configured verifier or the embedded one. */
const sharedModels = Effect.flatMap(Effect.serviceOption(Verifier), (configured) => {
  const verifier = Option.match(configured, {
    onNone: () => Embedded.layerVerifier,
    onSome: Layer.succeed(Verifier)
  })
  return Layer.build(Layer.merge(layerVision, verifier))
})

interface Options {
  readonly models: ReadonlyArray<string>
  readonly questions: string
  readonly folders: ReadonlyArray<string>
  readonly limit: number
  readonly concurrency: number
  /** USD. */
  readonly budget: number
  readonly onQuestion: (done: number, of: number) => Effect.Effect<void>
}

export const compareModels = Effect.fn("cli.compareModels")(function* (options: Options) {
  const { concurrency, limit, models, onQuestion } = options
  const prices = yield* Prices
  const budget = makeChatBudget(prices, options.budget * UNITS_PER_USD)
  // An unknown model fails before documents are read.
  const readers = yield* Effect.forEach(models, (model) =>
    Effect.map(Layer.build(layerConfiguredReader(model)), (reader) => ({ model, reader }))
  )
  const { asked, folder, missing, questions } = yield* prepareQuestions(options)
  const shared = yield* sharedModels
  const libraries = yield* Effect.forEach(readers, ({ model, reader }) =>
    Library.open(folder).pipe(
      Effect.provideContext(Context.merge(shared, reader)),
      Effect.map((library) => ({ model, library }))
    )
  )
  const chosen = spread(asked, Math.min(limit, asked.length))

  const askModel = (expected: ExpectedAnswer, model: string, library: LibraryService) =>
    Effect.map(
      Effect.timed(budget.metered(Effect.result(library.ask(expected.question)))),
      ([duration, { isStopped, result, tokens, units }]): ModelAnswer | undefined => {
        const answer = Result.getOrUndefined(result)
        if (isStopped) return undefined
        return {
          model,
          ...(answer === undefined ? failed(expected) : judgeAnswer(expected, answer)),
          supported: answer && supportedShare(answer),
          tokens,
          usd: units / UNITS_PER_USD,
          seconds: Duration.toSeconds(duration),
          ...(Result.isFailure(result) && { failure: result.failure.message })
        }
      }
    )

  let done = 0
  // A question at a time, so that all models have the same ones when the budget ends.
  const rows = yield* Effect.forEach(
    chosen,
    Effect.fnUntraced(function* (expected) {
      const row: Array<ModelAnswer> = []
      for (const { library, model } of libraries) {
        const answer = budget.isSpent() ? undefined : yield* askModel(expected, model, library)
        if (answer === undefined) return []
        row.push(answer)
      }
      yield* onQuestion(++done, chosen.length)
      return row
    }),
    { concurrency }
  )
  const answers = rows.flat()
  const answersOf = (model: string) => answers.filter((answer) => answer.model === model)
  const [first, ...others] = models
  return {
    questions,
    ran: done,
    missing,
    verifier: Context.get(shared, Verifier).model.id,
    unpriced: models.filter((model) => model !== EMBEDDED_READER && !prices.isNamed(model)),
    spent: budget.spent() / UNITS_PER_USD,
    stopped: budget.isSpent(),
    models: models.map((model) => scoresOf(model, answersOf(model))),
    comparisons: others.map((model) => ({
      a: model,
      b: first!,
      differences: differencesOf(answersOf(model), answersOf(first!))
    })),
    answers
  } satisfies ModelComparison as ModelComparison
})
