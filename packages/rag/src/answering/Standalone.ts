/** Questions of a conversation: a follow-up becomes a question that can be searched alone. */
import { QuestionRewriter } from "@sluice/core"
import { carrySubject, dependenceOf } from "@sluice/core/text"
import type { ConversationTurn } from "@sluice/core/models"
import { Duration, Effect, Option } from "effect"
import type { StageTime } from "../retrieval/stages/Trace.ts"
import type { Answer, Standalone } from "./Answer.ts"
import type { AskOptions } from "./AnswerOptions.ts"

/** Options of a question in a conversation. */
export interface ConversationOptions extends AskOptions {
  /** The turns before the question, oldest first. */
  readonly history?: ReadonlyArray<ConversationTurn> | undefined
  /** The question as it is to be understood. Nothing is rewritten then. */
  readonly standalone?: string | undefined
}

/** What to search, and how it came about. */
export interface UnderstoodQuestion {
  readonly question: string
  readonly standalone?: Standalone
  /** The questions before it, to be searched with it. */
  readonly previous?: string
  readonly stage?: StageTime
  readonly rewriterModel?: string
}

/** Turns whose questions are searched with the question, and characters of each. */
const PREVIOUS = { turns: 6, characters: 400 } as const

const previousQuestions = (history: ReadonlyArray<ConversationTurn>): string =>
  history
    .slice(-PREVIOUS.turns)
    .map(({ question, standalone }) => (standalone ?? question).slice(0, PREVIOUS.characters))
    .join(" ")

/**
 * Makes the function that completes a question from its history. A question that shows no need for it stays as it is, and
 * no model is called; if it may depend on its history, the questions before it are searched too. If the model fails, the
 * subject of the last turn is carried.
 */
export const makeStandalone = Effect.map(Effect.serviceOption(QuestionRewriter), (service) => {
  const rewriter = Option.getOrUndefined(service)

  return Effect.fn("Standalone.understand")(function* (
    question: string,
    { history = [], standalone }: Pick<ConversationOptions, "history" | "standalone">
  ) {
    const understood = (by: Standalone["by"], rewritten: string): UnderstoodQuestion =>
      rewritten === question ? { question } : { question: rewritten, standalone: { question: rewritten, by } }
    if (standalone !== undefined && standalone.trim() !== "") return understood("caller", standalone.trim())
    const dependence = dependenceOf(question, history)
    if (dependence === "complete") return { question }
    const previous = previousQuestions(history)
    if (dependence === "unclear") return { question, previous }
    const carried = understood("carried", carrySubject(question, history))
    if (rewriter === undefined) return { ...carried, previous }
    const [duration, result] = yield* Effect.timed(Effect.result(rewriter.rewrite(question, history)))
    const done =
      result._tag === "Success" ? { tokens: result.success.tokens } : { failed: result.failure.message }
    const milliseconds = Duration.toMillis(duration)
    return {
      ...(result._tag === "Success" ? understood("model", result.success.question) : carried),
      previous,
      stage: { stage: "rewrite", milliseconds, ...done },
      rewriterModel: rewriter.model.id
    }
  })
})

/** An answer as a turn of the history of the next question. */
export const turnOf = ({
  answer,
  found,
  question,
  standalone
}: Pick<Answer, "answer" | "found" | "question" | "standalone">): ConversationTurn => ({
  question,
  ...(standalone !== undefined && { standalone: standalone.question }),
  ...(found && { answer })
})
