/** The events of a chat stream as parts of an answer. */
import { Effect, Result, Stream } from "effect"
import { type ChatChunk, type ChatEvent, DONE } from "../endpoints/Chat.ts"
import { toReason } from "../Failure.ts"
import type { ChatEnd, ChatPart } from "../Gateway.ts"
import { type GatewayReason, Unreachable } from "../GatewayError.ts"

/** The answer's tokens and end, from the wire's names; what is not said is 0 or absent. */
export const endOf = (usage: ChatChunk["usage"], finishReason: string | null | undefined): ChatEnd => ({
  ...(typeof finishReason === "string" && { finishReason }),
  promptTokens: usage?.prompt_tokens ?? 0,
  completionTokens: usage?.completion_tokens ?? 0
})

interface State {
  readonly usage?: ChatChunk["usage"]
  readonly finishReason?: string | null | undefined
  readonly ended: boolean
}

/** Stands after the last event. Not `onHalt`, which runs for a stream that failed as well. */
const END = "end" as const

type Step = Result.Result<ChatPart, GatewayReason>

const next = (state: State, data: ChatEvent["data"] | typeof END): readonly [State, ReadonlyArray<Step>] => {
  if (data === DONE) return [{ ...state, ended: true }, []]
  if (data === END) return [state, [last(state)]]
  if ("error" in data) {
    const { code, message, type } = data.error
    const status = isFailure(code) ? code : type === "rate_limit_error" ? 429 : 502
    return [
      state,
      [
        Result.fail(
          toReason({ status, message, code: typeof code === "string" ? code : (type ?? undefined) })
        )
      ]
    ]
  }
  const choice = data.choices[0]
  const text = choice?.delta.content ?? ""
  const finishReason = choice?.finish_reason ?? state.finishReason
  return [
    { ended: false, usage: data.usage ?? state.usage, finishReason },
    text === "" ? [] : [Result.succeed({ type: "text", text })]
  ]
}

const isFailure = (code: unknown): code is number => typeof code === "number" && code >= 400 && code < 600

const last = ({ ended, finishReason, usage }: State): Step =>
  ended || typeof finishReason === "string"
    ? Result.succeed({ type: "end", ...endOf(usage, finishReason) })
    : Result.fail(new Unreachable({ message: "The stream broke off before the answer was whole." }))

/** Text parts as they come, and one end. A stream that stops short, or an error among its events, fails it. */
export const chatParts = <E>(
  events: Stream.Stream<ChatEvent, E>
): Stream.Stream<ChatPart, E | GatewayReason> =>
  events.pipe(
    Stream.map(({ data }) => data),
    Stream.takeUntil((data) => data === DONE),
    Stream.concat(Stream.succeed<typeof END>(END)),
    Stream.mapAccum((): State => ({ ended: false }), next),
    Stream.mapEffect(Effect.fromResult)
  )
