/**
 * Rewrites `model`, where the caller's name for a model differs from the upstream's.
 *
 * The text is changed in place: unknown fields, and every digit of every number, stay as they are.
 */
import { endOfString, fieldNames, stringAt } from "../wire/JsonScanner.ts"

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

/** Characters of an unfinished line that are held back at most; a longer line passes as it is. */
const LINE = 1024 * 1024

/** Does the same for server-sent events, line by line. `change` gets the data of an event; undefined drops the line. */
export const mapEvents = (change: (data: string) => string | undefined) => {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  const encoder = new TextEncoder()
  let rest = ""
  const line = (text: string, end = ""): string => {
    if (!text.startsWith("data:")) return text + end
    const changed = change(text.slice("data:".length))
    return changed === undefined ? "" : `data:${changed}${end}`
  }
  return {
    push: (bytes: Uint8Array): Uint8Array => {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n")
      const whole = lines.slice(0, -1).map((text) => line(text, "\n"))
      const begun = lines.at(-1) ?? ""
      rest = begun.length > LINE ? "" : begun
      return encoder.encode(whole.join("") + (rest === "" ? begun : ""))
    },
    end: (): Uint8Array => encoder.encode(line(rest + decoder.decode()))
  }
}

export const incomingEvents = (called: string, model: string) =>
  mapEvents((data) => incomingBody(data, called, model))
