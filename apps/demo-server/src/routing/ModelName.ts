/**
 * Replaces the name of a model in JSON texts, where the caller's name differs from the upstream's. The rest of the text,
 * such as unknown fields and the digits of large numbers, does not change.
 */
import { endOfString, fieldNames, stringAt } from "../wire/JsonScanner.ts"

/** Replaces the strings of `model` for which `when` holds. */
export const withModel = (
  text: string,
  model: string,
  when: (present: unknown) => boolean = () => true
): string => {
  let result = ""
  let from = 0
  for (const [name, start] of fieldNames(text)) {
    if (name !== "model" || text[start] !== '"') continue
    const end = endOfString(text, start)
    if (end < 0 || !when(stringAt(text, start, end))) continue
    result += text.slice(from, start) + JSON.stringify(model)
    from = end
  }
  return from === 0 ? text : result + text.slice(from)
}

/**
 * The body for an upstream. Also replaced without an alias if the body may have `model` several times: parsers differ in
 * which of them they use, and it must be the one that was permitted and billed.
 */
export const outgoingBody = (body: string, called: string, model: string): string =>
  called === model && body.indexOf('model"') === body.lastIndexOf('model"') && !body.includes("\\u00")
    ? body
    : withModel(body, model)

/** The response for a caller who used an alias. */
export const incomingBody = (body: string, called: string, model: string): string =>
  called === model ? body : withModel(body, called, (present) => present === model)
