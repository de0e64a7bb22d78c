/** The events of a chat stream as parts of an answer. */
import { Duration, Effect, Option, Result, Schema, Stream } from "effect"
import { Sse } from "effect/encoding"
import type { HttpClientResponse } from "effect/http"
import { ChatUsage, DONE } from "../../contract/Chat.ts"
import { extraOf, openStruct, optional } from "../../contract/Fields.ts"
import type { ChatEnd, ChatPart } from "../../gateway/Gateway.ts"
import { type GatewayReason, InvalidResponse, TimedOut, Unreachable } from "../../contract/GatewayError.ts"
import { parseJson } from "../../contract/Fields.ts"
import { originOf, tokensOf } from "../transport/CallResult.ts"
import { decodeFailure } from "../transport/SendAndDecode.ts"
import { reasonOfErrorDetails, parseErrorBody } from "../transport/ErrorDetails.ts"

/** Declared, so that it is not taken for something new; what it holds is nothing to a stream. */
const passed = Schema.optionalKey(Schema.Unknown)

/** A chunk, as far as it is needed: gateways leave out `delta` at the end, and `choices` beside the usage. */
const Chunk = openStruct({
  id: passed,
  object: passed,
  created: passed,
  model: passed,
  choices: optional(
    Schema.Array(
      openStruct({
        index: passed,
        delta: optional(openStruct({ role: passed, content: optional(Schema.String) })),
        finish_reason: optional(Schema.String)
      })
    )
  ),
  usage: optional(ChatUsage)
})
const decodeChunk = Schema.decodeUnknownOption(Chunk)

type Usage = typeof ChatUsage.Type | undefined

/** What is said of an answer, besides itself; no field is believed to have the type it should have. */
interface Heading {
  readonly id?: unknown
  readonly model?: unknown
  readonly created?: unknown
}

const isTime = (value: unknown): value is number => Number.isSafeInteger(value)

/** The answer's origin, tokens and end, from the wire's names; what is not said is 0 or absent. */
export const endOf = (
  { usage, ...heading }: Heading & { readonly usage?: Usage },
  finishReason: string | undefined
): ChatEnd => ({
  ...originOf(heading),
  ...(isTime(heading.created) && { created: heading.created }),
  ...(finishReason !== undefined && finishReason !== "" && { finishReason }),
  promptTokens: tokensOf(usage?.prompt_tokens),
  completionTokens: tokensOf(usage?.completion_tokens),
  ...(usage?.total_tokens !== undefined && { totalTokens: tokensOf(usage.total_tokens) })
})

interface State extends Heading {
  readonly usage?: Usage
  readonly finishReason?: string | undefined
  readonly ended: boolean
}

/** Stands after the last event. Not `onHalt`, which runs for a stream that failed as well. */
const END = { end: true } as const

const isDone = ({ data }: Sse.Event): boolean => data.trim() === DONE

type Step = Result.Result<ChatPart, GatewayReason>

const next = (state: State, event: Sse.Event | typeof END): readonly [State, ReadonlyArray<Step>] => {
  if ("end" in event) return [state, [last(state)]]
  const data = event.data.trim()
  if (data === DONE) return [{ ...state, ended: true }, []]
  const json = parseJson(data)
  const decoded = Option.getOrUndefined(decodeChunk(json))
  const chunk = decoded?.choices === undefined && decoded?.usage === undefined ? undefined : decoded
  const told = chunk?.choices === undefined ? parseErrorBody(json) : undefined
  if (told !== undefined) return [state, [Result.fail(reasonOfErrorDetails(told))]]
  if (chunk === undefined) {
    // Some gateways keep a connection alive by events with a name of their own, or without data.
    if (event.event !== "message" || data === "") return [state, []]
    const message = `An event of the stream is no part of an answer: “${data.slice(0, 80)}”.`
    return [state, [Result.fail(new InvalidResponse({ message }))]]
  }
  const choice = chunk.choices?.[0]
  const text = choice?.delta?.content ?? ""
  const finishReason = choice?.finish_reason || state.finishReason
  const extra = extraOf(chunk)
  const part = { type: "text", text, ...(extra !== undefined && { extra }) } as const
  return [
    {
      ended: false,
      usage: chunk.usage ?? state.usage,
      finishReason,
      id: chunk.id || state.id,
      model: chunk.model || state.model,
      created: chunk.created || state.created
    },
    text === "" && extra === undefined ? [] : [Result.succeed(part)]
  ]
}

const last = ({ ended, finishReason, ...heading }: State): Step =>
  ended || finishReason !== undefined
    ? Result.succeed({ type: "end", ...endOf(heading, finishReason) })
    : Result.fail(new Unreachable({ message: "The stream broke off before the answer was whole." }))

export interface StreamTimeouts {
  /** Without a byte, so long; a gateway's comments (`: ping`) count. */
  readonly silence: Duration.Duration
  /** The option that says how long silence may last. */
  readonly silenceBy: "attemptTimeout" | "idleTimeout"
  /** Without an event, so long. */
  readonly pause: Duration.Duration
}

/**
 * Text parts as they come, and one end. A stream that stops short, or an error among its events, fails it.
 *
 * **Details.** Parsed here, not by `HttpApiClient`: that lets a gateway raise defects and interruptions in this
 * process, ends a stream at a `retry:` line, and hides comments, which show that the gateway still works on it.
 */
export const chatParts = (
  { stream }: HttpClientResponse.HttpClientResponse,
  { pause, silence, silenceBy }: StreamTimeouts
): Stream.Stream<ChatPart, GatewayReason> =>
  Stream.suspend(() => {
    let parsed: Array<Sse.Event> = []
    const parser = Sse.makeParser((event) => {
      if (event._tag === "Event") parsed.push(event)
    })
    return stream.pipe(
      Stream.mapError(decodeFailure),
      Stream.timeoutOrElse({ duration: silence, orElse: () => stalled(silence, silenceBy) }),
      Stream.decodeText,
      Stream.concat(Stream.succeed(undefined)),
      Stream.mapEffect((text) => {
        // Of an event that the end of the body cuts short, only the last that there is may be whole.
        const fault = parser.feed(text ?? "\n\n")
        const events = text === undefined ? parsed.filter(isDone) : parsed
        parsed = []
        return fault === undefined
          ? Effect.succeed(events)
          : Effect.fail(new InvalidResponse({ message: "An event of the stream is too large." }))
      }),
      Stream.flattenIterable,
      Stream.timeoutOrElse({ duration: pause, orElse: () => stalled(pause, "callTimeout") }),
      Stream.takeUntil(isDone),
      Stream.concat(Stream.succeed<typeof END>(END)),
      Stream.mapAccum((): State => ({ ended: false }), next),
      Stream.mapEffect(Effect.fromResult)
    )
  })

const stalled = (after: Duration.Duration, option: StreamTimeouts["silenceBy"] | "callTimeout") => {
  const message = `Nothing came for ${Duration.format(after)} in mid-answer (\`${option}\`).`
  return Stream.fail(new TimedOut({ message, scope: option === "callTimeout" ? "call" : "attempt", after }))
}
