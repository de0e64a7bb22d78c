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
      let parsed: Array<Fields | "[DONE]"> = []
      const parser = Sse.makeParser(
        (event) => {
          const data = event._tag === "Retry" ? undefined : parseJson(event.data)
          if (Predicate.isObject(data)) parsed.push(...map.push(data))
        },
        { maxEventSize: MAX_EVENT }
      )
      const take = () => {
        const bytes = encode(parsed)
        parsed = []
        return bytes
      }
      const mapped = response.stream.pipe(
        Stream.decodeText,
        Stream.map((text) => {
          parser.feed(text)
          return take()
        })
      )
      const last = Stream.suspend(() => {
        // Ends an event whose empty line is missing.
        parser.feed("\n\n")
        return Stream.make(Buffer.concat([take(), encode(map.end?.() ?? [])]))
      })
      return Stream.filter(Stream.concat(mapped, last), ({ length }) => length > 0)
    })
  )
  return Object.create(response, { stream: { value: events } })
}
