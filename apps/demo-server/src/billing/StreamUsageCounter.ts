/** Counts what a streamed chat uses while it passes, and ends a stream that goes far beyond its limit. */
import { parseJson } from "@sluice/core/client"
import { Failure } from "@sluice/core/contract"
import { countTokens } from "@sluice/embedded"
import { Stream } from "effect"
import { Sse } from "effect/encoding"
import { fieldOf } from "../routing/ResponseBody.ts"
import { withoutUsage } from "../routing/StreamUsage.ts"
import { finalEvent } from "../wire/ServerSentEvents.ts"
import { type Bounds, textIn, reasoningIn } from "./ReportedUsage.ts"

/** Characters of one event at most. A longer one, such as an image, is not parsed and counts as one token. */
const LONGEST = 1024 * 1024

/** What was seen of a stream so far. */
export interface StreamUsageCounter {
  /** The data of an event, decoded. */
  readonly event: (data: unknown) => void
  /** Bytes of server-sent events, cut anywhere. */
  readonly bytes: (chunk: Uint8Array) => void
  /** The last `usage` that came. */
  readonly usage: () => unknown
  /** Tokens of all text, by the server's own count. */
  readonly written: () => number
  /** Tokens of the text without reasoning. */
  readonly said: () => number
  /** Whether an error came. */
  readonly broke: () => boolean
  /** Whether nothing came, or nothing but an error. */
  readonly failed: () => boolean
}

/** A piece is a token at least: a word that comes in three pieces was three. */
const tokensOf = (texts: ReadonlyArray<string>): number =>
  texts.reduce((sum, text) => sum + Math.max(1, countTokens(text)), 0)

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

export const makeStreamUsageCounter = (): StreamUsageCounter => {
  const decoder = new TextDecoder()
  let usage: unknown
  let said = 0
  let thought = 0
  let wrong = false
  let came = false

  const event = (data: unknown) => {
    const told = fieldOf(data, "usage")
    if (isGiven(told)) usage = told
    if (isGiven(fieldOf(data, "error"))) wrong = true
    const choices = fieldOf(data, "choices")
    if (!Array.isArray(choices)) return
    came ||= choices.length > 0
    for (const choice of choices) {
      const delta = fieldOf(choice, "delta")
      said += tokensOf(textIn(delta))
      thought += tokensOf(reasoningIn(delta))
    }
  }

  const parser = Sse.makeParser(
    (parsed) => {
      if (parsed._tag !== "Event") return
      const { data } = parsed
      if (data.length > LONGEST) said += 1
      else if (data.trimEnd().endsWith("}")) event(parseJson(data))
    },
    { maxEventSize: LONGEST }
  )

  return {
    event,
    bytes: (chunk) => {
      const tooLarge = parser.feed(decoder.decode(chunk, { stream: true }))
      if (tooLarge !== undefined) said += 1
    },
    usage: () => usage,
    written: () => said + thought,
    said: () => said,
    broke: () => wrong,
    failed: () => said + thought === 0 && (wrong || !came)
  }
}

/** The error at the end of a stream that was ended. */
export const tooLong = new Failure({
  status: 502,
  message:
    "The gateway wrote far more than this call may come to, and was ended: what came of it is paid for. Ask for more by `max_tokens`",
  code: "upstream_beyond_limit"
})

const TOO_LONG = finalEvent(tooLong.body)

/** Whether more was written than the call may come to. */
export const isBeyond = (counter: StreamUsageCounter, { said, written }: Bounds): boolean =>
  counter.said() > said || counter.written() > written

/** Counts the bytes of a stream, ends it beyond its bounds, and leaves out the usage that the caller did not ask for. */
export const meteredStream = <E>(
  stream: Stream.Stream<Uint8Array, E>,
  counter: StreamUsageCounter,
  bounds: Bounds,
  hidesUsage: boolean
): Stream.Stream<Uint8Array, E> =>
  Stream.suspend(() => {
    const shown = hidesUsage ? withoutUsage() : undefined
    const isTooLong = () => isBeyond(counter, bounds)
    const rest = Stream.suspend(() =>
      Stream.fromIterable([shown?.end() ?? new Uint8Array(), ...(isTooLong() ? [TOO_LONG] : [])])
    )
    return stream.pipe(
      Stream.map((chunk) => {
        counter.bytes(chunk)
        return shown?.push(chunk) ?? chunk
      }),
      Stream.takeUntil(isTooLong),
      Stream.concat(rest),
      Stream.filter(({ length }) => length > 0)
    )
  })
