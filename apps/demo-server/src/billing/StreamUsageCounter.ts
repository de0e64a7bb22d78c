/** Counts the usage of a streamed chat, and ends a stream that goes far beyond its limit. */
import { parseJson } from "@sluice/core/client"
import { Failure, MAX_IMAGE_BYTES } from "@sluice/core/contract"
import { countTokens } from "@sluice/embedded"
import { Predicate, type Stream } from "effect"
import { Sse } from "effect/encoding"
import { fieldOf } from "../routing/ResponseBody.ts"
import { withoutUsage } from "../routing/StreamUsage.ts"
import { mapBytes } from "../wire/MapBytes.ts"
import { finalEvent } from "../wire/ServerSentEvents.ts"
import { type Bounds, textIn, reasoningIn } from "./ReportedUsage.ts"

/** Characters of one event at most. A longer one, such as an image, is not parsed and counts as one token. */
const MAX_EVENT = 1024 * 1024

/** Bytes around the data of an event, at most: the names of its fields, and its blank line. */
const EVENT_FRAME = 64

/** Bytes without text that count as one token: comments, blank lines, events without choices. */
const BYTES_PER_TOKEN = 1024

/** Bytes of a line with an image, at most. What a line has beyond them counts like bytes without text. */
const MAX_IMAGE_LINE = 2 * MAX_IMAGE_BYTES
const NEWLINE = 10

/** The usage of a stream so far. */
export interface StreamUsageCounter {
  /** Counts the decoded data of an event. */
  readonly event: (data: unknown) => void
  /** Counts bytes of server-sent events, which may be cut anywhere. */
  readonly bytes: (chunk: Uint8Array) => void
  /** The last `usage` of the stream. */
  readonly usage: () => unknown
  /** The tokens of all text and of the bytes without text, by the server's own count. */
  readonly totalTokens: () => number
  /** The tokens of the text without reasoning. */
  readonly textTokens: () => number
  /** Whether the stream has an error. */
  readonly hasError: () => boolean
  /** Whether the stream has no choices, or only an error. */
  readonly isEmpty: () => boolean
}

/** A piece of text is one token at least: models send each token as a piece. */
const tokensOf = (texts: ReadonlyArray<string>): number =>
  texts.reduce((sum, text) => sum + Math.max(1, countTokens(text)), 0)

export const makeStreamUsageCounter = (): StreamUsageCounter => {
  const decoder = new TextDecoder()
  let usage: unknown
  let textTokens = 0
  let reasoningTokens = 0
  let hasError = false
  let hasChoices = false
  /** Bytes without text, now and at the end of the last event. */
  let otherBytes = 0
  let bytesAtEvent = 0
  /** Bytes of the present line after an event above `MAX_EVENT` began; 0 in other events. */
  let longBytes = 0
  const totalTokens = () => textTokens + reasoningTokens + Math.floor(otherBytes / BYTES_PER_TOKEN)

  const event = (data: unknown) => {
    const reported = fieldOf(data, "usage")
    if (Predicate.isNotNullish(reported)) usage = reported
    if (Predicate.isNotNullish(fieldOf(data, "error"))) hasError = true
    const choices = fieldOf(data, "choices")
    if (!Array.isArray(choices)) return
    hasChoices ||= choices.length > 0
    for (const choice of choices) {
      const delta = fieldOf(choice, "delta")
      textTokens += tokensOf(textIn(delta))
      reasoningTokens += tokensOf(reasoningIn(delta))
    }
  }

  const parser = Sse.makeParser(
    (parsed) => {
      if (parsed._tag !== "Event") return
      const { data } = parsed
      const before = textTokens + reasoningTokens
      if (data.length > MAX_EVENT) textTokens += 1
      else if (data.trimEnd().endsWith("}")) event(parseJson(data))
      if (textTokens + reasoningTokens > before) otherBytes -= data.length + EVENT_FRAME
      otherBytes = Math.max(otherBytes, 0)
      bytesAtEvent = otherBytes
      longBytes = 0
    },
    { maxEventSize: MAX_EVENT }
  )

  return {
    event,
    bytes: (chunk) => {
      if (longBytes > 0) longBytes = chunk.includes(NEWLINE) ? 1 : longBytes + chunk.length
      if (longBytes === 0 || longBytes > MAX_IMAGE_LINE) otherBytes += chunk.length
      const tooLarge = parser.feed(decoder.decode(chunk, { stream: true }))
      if (tooLarge === undefined) return
      textTokens += 1
      if (longBytes === 0) otherBytes = bytesAtEvent
      longBytes ||= MAX_EVENT
    },
    usage: () => usage,
    totalTokens,
    textTokens: () => textTokens,
    hasError: () => hasError,
    isEmpty: () => totalTokens() === 0 && (hasError || !hasChoices)
  }
}

/** The error at the end of a stream that exceeds its bounds. */
export const outputTooLong = new Failure({
  status: 502,
  message:
    "The response was ended because it is far longer than its limit. The received part is charged. Raise `max_tokens` for a longer response",
  code: "upstream_beyond_limit"
})

const TOO_LONG = finalEvent(outputTooLong.body)

/** Whether a stream is longer than its bounds. */
export const exceedsBounds = (counter: StreamUsageCounter, { textTokens, totalTokens }: Bounds): boolean =>
  counter.textTokens() > textTokens || counter.totalTokens() > totalTokens

/** Counts the tokens of a stream and ends it beyond its bounds. `hidesUsage`: removes events that have only usage. */
export const meteredStream = <E>(
  stream: Stream.Stream<Uint8Array, E>,
  counter: StreamUsageCounter,
  bounds: Bounds,
  hidesUsage: boolean
): Stream.Stream<Uint8Array, E> =>
  mapBytes(stream, () => {
    const filter = hidesUsage ? withoutUsage() : undefined
    const isTooLong = () => exceedsBounds(counter, bounds)
    return {
      push: (chunk) => {
        counter.bytes(chunk)
        return filter?.push(chunk) ?? chunk
      },
      isDone: isTooLong,
      end: () => Buffer.concat([filter?.end() ?? Buffer.alloc(0), ...(isTooLong() ? [TOO_LONG] : [])])
    }
  })
