/** A JSON response that is encoded in portions, so that other requests run between them. */
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"

/** Characters of a portion. They take about 5 ms. */
const PORTION = 1024 * 1024

const contentType = "application/json"

/** Encodes an object of JSON values. The elements of its lists are in as many portions as needed. */
function* portionsOf(body: object): Generator<string> {
  let portion = ""
  let before = "{"
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue
    portion += `${before}${JSON.stringify(name)}:`
    before = ","
    if (!Array.isArray(value)) {
      portion += JSON.stringify(value)
      continue
    }
    for (let i = 0; i < value.length; i++) {
      portion += `${i === 0 ? "[" : ","}${JSON.stringify(value[i])}`
      if (portion.length < PORTION) continue
      yield portion
      portion = ""
    }
    portion += value.length === 0 ? "[]" : "]"
  }
  yield `${portion}${before === "{" ? "{}" : "}"}`
}

/** The response has its whole body, which the ledger reads. */
export const jsonInPortions = Effect.fnUntraced(function* (body: object) {
  const portions: Array<string> = []
  for (const portion of portionsOf(body)) {
    portions.push(portion)
    if (portion.length >= PORTION) yield* Effect.yieldNow
  }
  return HttpServerResponse.text(portions.join(""), { contentType })
})

/** The response is sent while it is encoded: to write 15 MB at once takes .2 s. */
export const streamInPortions = (body: object): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(
    Stream.fromIterable(portionsOf(body), { chunkSize: 1 }).pipe(
      Stream.mapEffect((portion) => Effect.as(Effect.yieldNow, portion)),
      Stream.encodeText
    ),
    { contentType }
  )
