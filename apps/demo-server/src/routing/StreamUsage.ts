/**
 * The usage of streams. It is requested for every caller, since only upstreams count hidden reasoning, and shown to
 * those who asked.
 */
import { parseJson } from "@sluice/core/client"
import { Predicate } from "effect"
import { fieldNames } from "../wire/JsonScanner.ts"

interface Asked {
  readonly stream?: boolean | undefined
  readonly stream_options?: { readonly include_usage?: boolean | undefined } | undefined
}

/** Whether only the server asked for the usage. */
export const hidesUsage = ({ stream, stream_options }: Asked): boolean =>
  stream === true && stream_options?.include_usage !== true

const INCLUDED = '"stream_options":{"include_usage":true},'

/** Adds `stream_options.include_usage` to a body. */
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

/** Bytes of an unfinished line that are held back at most. */
const LONGEST = 64 * 1024

const isUsage = (line: string): boolean => {
  if (!line.startsWith("data:") || !line.includes(USAGE)) return false
  const event = parseJson(line.slice("data:".length))
  if (!Predicate.isObject(event)) return false
  const { choices, usage } = event
  return Array.isArray(choices) && choices.length === 0 && Predicate.isObjectOrArray(usage)
}

/** Removes events that have only usage from a stream. An unfinished line is held back. */
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
      // Every second part is a line end.
      const lines = whole.toString().split(/(\r\n|\n|\r)/)
      return Buffer.from(lines.filter((line) => !isUsage(line)).join(""))
    },
    end: (): Uint8Array => waiting
  }
}
