/** The usage of streams. The server requests it for billing, and removes it for callers who did not request it. */
import { parseJson } from "@sluice/core/client"
import type { ChatRequest } from "@sluice/core/contract"
import { Predicate } from "effect"
import { fieldNames } from "../wire/JsonScanner.ts"
import { mapEventData } from "../wire/ServerSentEvents.ts"

/** Whether only the server requests the usage. */
export const hidesUsage = ({
  stream,
  stream_options
}: Pick<ChatRequest, "stream" | "stream_options">): boolean =>
  stream === true && stream_options?.include_usage !== true

const INCLUDE_USAGE = '"stream_options":{"include_usage":true},'

/** Adds `stream_options.include_usage` to a body. */
export const includeUsage = (body: string): string => {
  const at = body.indexOf("{") + 1
  const isGiven = [...fieldNames(body)].some(([name]) => name === "stream_options")
  if (!isGiven) return body.slice(0, at) + INCLUDE_USAGE + body.slice(at)
  const fields = JSON.parse(body) as Readonly<Record<string, object | null>>
  return JSON.stringify({
    ...fields,
    stream_options: { ...fields["stream_options"], include_usage: true }
  })
}

const USAGE = '"usage"'

const isUsage = (data: string): boolean => {
  if (!data.includes(USAGE)) return false
  const event = parseJson(data)
  if (!Predicate.isObject(event)) return false
  const { choices, usage } = event
  return Array.isArray(choices) && choices.length === 0 && Predicate.isObjectOrArray(usage)
}

/** Removes events that have only usage from a stream. */
export const withoutUsage = () => mapEventData((data) => (isUsage(data) ? undefined : data), USAGE)
