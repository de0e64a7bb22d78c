/** Parses the events of a chat stream into the parts of an answer. */
import { Duration, Effect, Option, Result, Schema, Stream } from "effect"
import { Sse } from "effect/encoding"
import type { HttpClientResponse } from "effect/http"
import { ChatUsage, DONE } from "../../contract/Chat.ts"
import { extraOf, openStruct, optional, parseJson } from "../../contract/Fields.ts"
import { type GatewayReason, InvalidResponse, TimedOut, Unreachable } from "../../contract/GatewayError.ts"
import { tolerateChunk } from "../../tolerance/Chat.ts"
import type { ChatEnd, ChatPart } from "../../gateway/Gateway.ts"
import { originOf, tokensOf } from "../transport/CallResult.ts"
import { reasonOfBody, reasonOfErrorBeside } from "../transport/ErrorDetails.ts"
import { decodeFailure } from "../transport/SendAndDecode.ts"

/** Declared so that it is not part of `extra`. */
const ignored = Schema.optionalKey(Schema.Unknown)

/** The fields of a chunk that are used. Gateways omit `delta` at the end, and `choices` beside the usage. */
const Chunk = openStruct({
  id: ignored,
  object: ignored,
  created: ignored,
  model: ignored,
  choices: optional(
    Schema.Array(
      openStruct({
        index: ignored,
        delta: optional(openStruct({ role: ignored, content: optional(Schema.String) })),
        finish_reason: optional(Schema.String)
      })
    )
  ),
  usage: optional(ChatUsage)
})
const decodeChunk = Schema.decodeUnknownOption(Chunk)

/** The fields of a response beside its text. Each may be missing or of another type. */
interface Heading {
  readonly id?: unknown
  readonly model?: unknown
  readonly created?: unknown
  readonly usage?: typeof ChatUsage.Type | undefined
}

const isTime = (value: unknown): value is number => Number.isSafeInteger(value)

/** The origin, the token counts and the finish reason of a response. Missing counts are 0. */
export const chatEnd = ({ usage, ...heading }: Heading, finishReason: string | undefined): ChatEnd => ({
  ...originOf(heading),
  ...(isTime(heading.created) && { created: heading.created }),
  ...(finishReason !== undefined && finishReason !== "" && { finishReason }),
  promptTokens: tokensOf(usage?.prompt_tokens),
  completionTokens: tokensOf(usage?.completion_tokens),
  ...(usage?.total_tokens !== undefined && { totalTokens: tokensOf(usage.total_tokens) })
})

interface State extends Heading {
  readonly finishReason?: string | undefined
  /** `[DONE]` has arrived. */
  readonly ended: boolean
}

/** Follows the last event of a complete stream. `onHalt` would also run for a failed one. */
const END = { end: true } as const

const isDone = ({ data }: Sse.Event): boolean => data.trim() === DONE

/** Data without content. */
const EMPTY = /^(?:\{\s*\})?$/

type Part = Result.Result<ChatPart, GatewayReason>

const parseEvent = (state: State, event: Sse.Event | typeof END): readonly [State, ReadonlyArray<Part>] => {
  if ("end" in event) return [state, [endPart(state)]]
  const data = event.data.trim()
  if (data === DONE) return [{ ...state, ended: true }, []]
  const json = parseJson(data)
  const decoded = Option.getOrUndefined(decodeChunk(tolerateChunk(json)))
  const chunk = decoded?.choices === undefined && decoded?.usage === undefined ? undefined : decoded
  const refusal =
    chunk?.choices === undefined
      ? reasonOfBody(json)
      : (reasonOfErrorBeside(json) ?? reasonOfErrorBeside(chunk.choices[0]?.extra))
  if (refusal !== undefined) return [state, [Result.fail(refusal)]]
  if (chunk === undefined) {
    // Some gateways keep a connection alive with named events, or with empty ones.
    if (event.event !== "message" || EMPTY.test(data)) return [state, []]
    const message = `An event of the stream is not a part of an answer: “${data.slice(0, 80)}”.`
    return [state, [Result.fail(new InvalidResponse({ message }))]]
  }
  const choice = chunk.choices?.[0]
  const text = choice?.delta?.content ?? ""
  const extra = extraOf(chunk)
  const next = {
    ended: false,
    usage: chunk.usage ?? state.usage,
    finishReason: choice?.finish_reason || state.finishReason,
    id: chunk.id || state.id,
    model: chunk.model || state.model,
    created: chunk.created || state.created
  }
  if (text === "" && extra === undefined) return [next, []]
  return [next, [Result.succeed({ type: "text", text, ...(extra !== undefined && { extra }) })]]
}

const endPart = ({ ended, finishReason, ...heading }: State): Part =>
  ended || finishReason !== undefined
    ? Result.succeed({ type: "end", ...chatEnd(heading, finishReason) })
    : Result.fail(new Unreachable({ message: "The stream broke off before the answer was complete." }))

export interface StreamTimeouts {
  /** The limit between two chunks of bytes. Comments (`: ping`) count. */
  readonly chunk: Duration.Duration
  /** The option that sets `chunk`. */
  readonly chunkOption: "attemptTimeout" | "idleTimeout"
  /** The limit between two events. */
  readonly event: Duration.Duration
}

const timedOut = (after: Duration.Duration, option: StreamTimeouts["chunkOption"] | "callTimeout") => {
  const message = `No data for ${Duration.format(after)} during the answer (\`${option}\`).`
  return Stream.fail(new TimedOut({ message, scope: option === "callTimeout" ? "call" : "attempt", after }))
}

/**
 * Text parts as they arrive, then one end. A truncated stream or an error among its events fails it.
 *
 * **Details.** `HttpApiClient` is not used to parse: it lets a gateway raise defects and interruptions in this process,
 * ends a stream at a `retry:` line, and drops comments, which show that the gateway is still working.
 */
export const chatParts = (
  { stream }: HttpClientResponse.HttpClientResponse,
  { chunk, chunkOption, event }: StreamTimeouts
): Stream.Stream<ChatPart, GatewayReason> =>
  Stream.suspend(() => {
    let parsed: Array<Sse.Event> = []
    const parser = Sse.makeParser((parsedEvent) => {
      if (parsedEvent._tag === "Event") parsed.push(parsedEvent)
    })
    return stream.pipe(
      Stream.mapError(decodeFailure),
      Stream.timeoutOrElse({ duration: chunk, orElse: () => timedOut(chunk, chunkOption) }),
      Stream.decodeText,
      Stream.concat(Stream.succeed(undefined)),
      Stream.mapEffect((text) => {
        // An event without its blank line at the end of the body may be truncated, unless it is `[DONE]`.
        const fault = parser.feed(text ?? "\n\n")
        const events = text === undefined ? parsed.filter(isDone) : parsed
        parsed = []
        return fault === undefined
          ? Effect.succeed(events)
          : Effect.fail(new InvalidResponse({ message: "An event of the stream is too large." }))
      }),
      Stream.flattenIterable,
      Stream.timeoutOrElse({ duration: event, orElse: () => timedOut(event, "callTimeout") }),
      Stream.takeUntil(isDone),
      Stream.concat(Stream.succeed<typeof END>(END)),
      Stream.mapAccum((): State => ({ ended: false }), parseEvent),
      Stream.mapEffect(Effect.fromResult)
    )
  })
