/** A JSON response that is encoded in portions, so that other requests run between them. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"

/** Characters of a portion. They take about 5 ms. */
const PORTION = 1024 * 1024

/** Encodes an object of JSON values. The elements of its lists are in as many portions as needed. */
export const jsonInPortions = Effect.fnUntraced(function* (body: object) {
  const parts: Array<string> = []
  let length = 0
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue
    parts.push(parts.length === 0 ? "{" : ",", JSON.stringify(name), ":")
    if (!Array.isArray(value)) {
      parts.push(JSON.stringify(value))
      continue
    }
    for (let i = 0; i < value.length; i++) {
      const element = JSON.stringify(value[i])
      parts.push(i === 0 ? "[" : ",", element)
      length += element.length
      if (length < PORTION) continue
      length = 0
      yield* Effect.yieldNow
    }
    parts.push(value.length === 0 ? "[]" : "]")
  }
  parts.push(parts.length === 0 ? "{}" : "}")
  return HttpServerResponse.text(parts.join(""), { contentType: "application/json" })
})
