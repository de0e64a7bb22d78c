/**
 * Rewrites `model`, where the caller's name for a model differs from the upstream's.
 *
 * The text is changed in place: unknown fields, and every digit of every number, stay as they are.
 */
import { endOfString, fieldNames, stringAt } from "../wire/JsonScanner.ts"
import { mapEventData } from "../wire/ServerSentEvents.ts"

/** Replaces the string values of `model` for which `when` holds. */
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
 * The body for an upstream. Without an alias it is the caller's own, unless it names several models: readers differ in
 * which of them counts, and the one that was permitted and is paid for must answer.
 */
export const outgoingBody = (body: string, called: string, model: string): string =>
  called === model && body.indexOf('model"') === body.lastIndexOf('model"') && !body.includes("\\u00")
    ? body
    : withModel(body, model)

/** A response for a caller who used another name for the model. */
export const incomingBody = (body: string, called: string, model: string): string =>
  called === model ? body : withModel(body, called, (present) => present === model)

/** The same for a stream of server-sent events. */
export const incomingEvents = (called: string, model: string) =>
  mapEventData((data) => incomingBody(data, called, model))
