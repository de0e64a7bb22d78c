/** Questions of a conversation: a follow-up becomes a question that can be searched alone. */
import { QuestionRewriter } from "@sluice/core"
import { carrySubject, isFollowUp } from "@sluice/core/text"
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
  readonly stage?: StageTime
  readonly rewriterModel?: string
}

/**
 * Makes the function that completes a question from its history. A question that shows no need for it stays as it is, and
 * no model is called. If the model fails, the subject of the last turn is carried.
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
    if (!isFollowUp(question, history)) return { question }
    const carried = understood("carried", carrySubject(question, history))
    if (rewriter === undefined) return carried
    const [duration, result] = yield* Effect.timed(Effect.result(rewriter.rewrite(question, history)))
    const done =
      result._tag === "Success" ? { tokens: result.success.tokens } : { failed: result.failure.message }
    const milliseconds = Duration.toMillis(duration)
    return {
      ...(result._tag === "Success" ? understood("model", result.success.question) : carried),
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
