/**
 * The one field of a body that may change on its way: `model`, where a caller's name for it is not the upstream's.
 *
 * The text is changed in place: fields that nobody here knows, and every digit of every number, stay as they came.
 */
import { jsonIn } from "@sluice/core/client"

interface Span {
  readonly start: number
  readonly end: number
}

/** The end of the string that begins at `at`: behind its closing quote, or -1. */
export const endOfString = (text: string, at: number): number => {
  let end = at
  for (;;) {
    end = text.indexOf('"', end + 1)
    if (end < 0) return -1
    let slashes = 0
    while (text[end - 1 - slashes] === "\\") slashes++
    if (slashes % 2 === 0) return end + 1
  }
}

const decoded = (text: string, { end, start }: Span): unknown => {
  const plain = text.slice(start + 1, end - 1)
  return plain.includes("\\") ? jsonIn(text.slice(start, end)) : plain
}

/** The outermost names of a JSON object, in their order, each with where its value begins; one may stand twice. */
export function* namesIn(text: string): Generator<readonly [name: string, at: number]> {
  const structural = /["{}[\]]/g
  const colon = /\s*:\s*/y
  let depth = 0
  for (let match = structural.exec(text); match !== null; match = structural.exec(text)) {
    const [sign] = match
    if (sign !== '"') {
      depth += sign === "{" || sign === "[" ? 1 : -1
      continue
    }
    const span = { start: match.index, end: endOfString(text, match.index) }
    if (span.end < 0) return
    structural.lastIndex = span.end
    if (depth !== 1) continue
    // A string that a colon follows is a name.
    colon.lastIndex = span.end
    const name = colon.test(text) ? decoded(text, span) : undefined
    if (typeof name === "string") yield [name, colon.lastIndex]
  }
}

/** Where the values of the outermost `model` stand, if they are strings; each of them, since a name may stand twice. */
const modelsIn = (text: string): ReadonlyArray<Span> =>
  [...namesIn(text)].flatMap(([name, start]) => {
    const end = name === "model" && text[start] === '"' ? endOfString(text, start) : -1
    return end < 0 ? [] : [{ start, end }]
  })

/** The JSON object with another `model`, wherever `when` says so of the one that is there. */
export const withModel = (
  text: string,
  model: string,
  when: (present: unknown) => boolean = () => true
): string => {
  let result = ""
  let from = 0
  for (const span of modelsIn(text)) {
    if (!when(decoded(text, span))) continue
    result += text.slice(from, span.start) + JSON.stringify(model)
    from = span.end
  }
  return from === 0 ? text : result + text.slice(from)
}

/**
 * The body to be sent. Without an alias it is the caller's own, except where it names several models: readers differ in
 * which of them counts, and the one that was permitted and is paid for must be the one that answers.
 */
export const outgoingBody = (body: string, called: string, model: string): string =>
  called === model && body.indexOf('model"') === body.lastIndexOf('model"') && !body.includes("\\u00")
    ? body
    : withModel(body, model)

/** An answer to whoever called the model by another name. */
export const incomingBody = (body: string, called: string, model: string): string =>
  called === model ? body : withModel(body, called, (present) => present === model)

/** Characters of a line that are waited for at most: a longer one passes as it is. */
const LINE = 1024 * 1024

/** The same for server-sent events, line by line as they come. A line that is not whole yet waits for its end. */
export const incomingEvents = (called: string, model: string) => {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  const encoder = new TextEncoder()
  let rest = ""
  const line = (text: string) =>
    text.startsWith("data:") ? `data:${incomingBody(text.slice("data:".length), called, model)}` : text
  return {
    push: (bytes: Uint8Array): Uint8Array => {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n")
      const whole = lines.slice(0, -1).map((text) => `${line(text)}\n`)
      const begun = lines.at(-1) ?? ""
      rest = begun.length > LINE ? "" : begun
      return encoder.encode(whole.join("") + (rest === "" ? begun : ""))
    },
    end: (): Uint8Array => encoder.encode(line(rest + decoder.decode()))
  }
}
