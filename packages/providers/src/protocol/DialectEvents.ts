/** The events of a vendor's chat stream in the interface's form. */
import { parseJson } from "@sluice/core/client"
import { Effect, Predicate, Stream } from "effect"
import { Sse } from "effect/encoding"
import type { HttpClientResponse } from "effect/http"
import type { EventMap, Fields } from "./Dialect.ts"

/** The longest event. Images in an answer are one event. */
const MAX_EVENT = 32 * 1024 * 1024

const encoder = new TextEncoder()

const encode = (events: ReadonlyArray<Fields | "[DONE]">): Uint8Array =>
  encoder.encode(
    events.map((event) => `data: ${event === "[DONE]" ? event : JSON.stringify(event)}\n\n`).join("")
  )

/** The response with mapped events. Its status and headers stay. */
export const interfaceEvents = (
  response: HttpClientResponse.HttpClientResponse,
  map: EventMap
): HttpClientResponse.HttpClientResponse => {
  const events = Stream.unwrap(
    Effect.sync(() => {
      const parsed: Array<Fields | "[DONE]"> = []
      const parser = Sse.makeParser(
        (event) => {
          const data = event._tag === "Retry" ? undefined : parseJson(event.data)
          if (Predicate.isObject(data)) parsed.push(...map.push(data))
        },
        { maxEventSize: MAX_EVENT }
      )
      const mapText = (text: string) => {
        parser.feed(text)
        return encode(parsed.splice(0))
      }
      return response.stream.pipe(
        Stream.decodeText,
        // Ends an event whose empty line is missing.
        Stream.concat(Stream.make("\n\n")),
        Stream.map(mapText),
        Stream.concat(Stream.suspend(() => Stream.make(encode(map.end?.() ?? [])))),
        Stream.filter(({ length }) => length > 0)
      )
    })
  )
  return Object.create(response, { stream: { value: events } })
}
