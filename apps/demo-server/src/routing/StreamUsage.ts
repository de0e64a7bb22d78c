/** The usage of a stream: asked of an upstream for every caller, since thoughts are told by it alone; told to those who asked. */
import { jsonIn } from "@sluice/core/client"
import { Predicate } from "effect"
import { fieldNames } from "../wire/JsonScanner.ts"

interface Asked {
  readonly stream?: boolean | undefined
  readonly stream_options?: { readonly include_usage?: boolean | undefined } | undefined
}

/** Whether it is asked for the server's sake alone. */
export const hidesUsage = ({ stream, stream_options }: Asked): boolean =>
  stream === true && stream_options?.include_usage !== true

const INCLUDED = '"stream_options":{"include_usage":true},'

/** The body that asks for it: with a field more, where the caller gave no such options. */
export const includeUsage = (body: string): string => {
  const at = body.indexOf("{") + 1
  const isGiven = [...fieldNames(body)].some(([name]) => name === "stream_options")
  if (!isGiven) return body.slice(0, at) + INCLUDED + body.slice(at)
  const fields = JSON.parse(body) as Readonly<Record<string, object | null>>
  return JSON.stringify({
    ...fields,
    stream_options: { ...fields["stream_options"], include_usage: true }
  })
}

const USAGE = '"usage"'
const [NEWLINE = 0, RETURN = 0] = Buffer.from("\n\r")
const NO_BYTES: Buffer = Buffer.alloc(0)

/** Bytes of a line that is not whole yet which are waited for at most. */
const LONGEST = 64 * 1024

const isUsage = (line: string): boolean => {
  if (!line.startsWith("data:") || !line.includes(USAGE)) return false
  const event = jsonIn(line.slice("data:".length))
  if (!Predicate.isObject(event)) return false
  const { choices, usage } = event
  return Array.isArray(choices) && choices.length === 0 && Predicate.isObjectOrArray(usage)
}

/** Takes the events that have nothing but usage out of a stream. A line that is not whole yet waits for its end. */
export const withoutUsage = () => {
  let waiting = NO_BYTES
  return {
    push: (chunk: Uint8Array): Uint8Array => {
      const came = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
      const all = waiting.length === 0 ? came : Buffer.concat([waiting, came])
      const end = Math.max(all.lastIndexOf(NEWLINE), all.lastIndexOf(RETURN)) + 1
      const cut = all.length - end > LONGEST ? all.length : end
      waiting = all.subarray(cut)
      const whole = all.subarray(0, cut)
      if (!whole.includes(USAGE)) return whole
      // Each second part is a line's end, which stays.
      const lines = whole.toString().split(/(\r\n|\n|\r)/)
      return Buffer.from(lines.filter((line) => !isUsage(line)).join(""))
    },
    end: (): Uint8Array => waiting
  }
}
