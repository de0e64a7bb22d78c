/** Meters the chats of an evaluation by the configured prices, and stops it before a budget is passed. */
import { GatewayError, InsufficientQuota } from "@sluice/core"
import { costOf, NO_USAGE } from "@sluice/core/prices"
import { countTokens } from "@sluice/embedded"
import { Effect, Stream } from "effect"
import { chatMeter } from "../../billing/Meter.ts"
import type { Prices } from "../../billing/Prices.ts"
import { billedUsage } from "../../billing/ReportedUsage.ts"
import { type ChatInterceptor, CurrentChatInterceptor } from "../../providers/LibraryGateway.ts"

/** What the chats of one answer used. */
interface ChatUse {
  tokens: number
  /** Quota units. */
  units: number
  /** Whether a call was not made because of the budget. */
  isStopped: boolean
}

/** `budget`: quota units. */
export const makeChatBudget = (prices: Prices["Service"], budget: number) => {
  let spent = 0
  /** At most, of the calls that run. */
  let reserved = 0
  let isSpent = false

  const interceptor =
    (use: ChatUse): ChatInterceptor =>
    ({ extra, maxTokens, messages, model }, parts) =>
      Stream.suspend(() => {
        const request = {
          model,
          messages,
          ...(maxTokens !== undefined && { max_tokens: maxTokens }),
          ...extra
        }
        const price = prices.of("chat", model)
        const most = chatMeter.most(request)
        const atMost = costOf(price, most)
        if (isSpent || spent + reserved + atMost > budget) {
          isSpent = use.isStopped = true
          const reason = new InsufficientQuota({ message: "The next call may pass the budget." })
          return Stream.fail(new GatewayError({ operation: "chat", model, reason }))
        }
        reserved += atMost
        // A refused call costs nothing, and a response that breaks off at most.
        let usage = NO_USAGE
        let text = ""
        return parts.pipe(
          Stream.tap((part) =>
            Effect.sync(() => {
              if (part.type === "text") text += part.text
              usage =
                part.type === "text"
                  ? most
                  : billedUsage(
                      { prompt_tokens: part.promptTokens, completion_tokens: part.completionTokens },
                      most,
                      () => chatMeter.countUsage(request),
                      () => countTokens(text)
                    )
            })
          ),
          Stream.ensuring(
            Effect.sync(() => {
              reserved -= atMost
              const units = costOf(price, usage)
              spent += units
              use.units += units
              use.tokens += usage.inputTokens + usage.outputTokens
            })
          )
        )
      })

  return {
    isSpent: () => isSpent,
    spent: () => spent,
    /** Runs an effect, and returns what its chats used. */
    metered: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.suspend(() => {
        const use: ChatUse = { tokens: 0, units: 0, isStopped: false }
        return effect.pipe(
          Effect.provideService(CurrentChatInterceptor, interceptor(use)),
          Effect.map((result) => ({ ...use, result }))
        )
      })
  }
}
