/** The log: by configuration a line for each event, of JSON or of `name=value`, on standard error. */
import { Cause, Effect, Layer, Logger, References } from "effect"
import { ServerConfig } from "../config/ServerConfig.ts"

/** What no line may carry, whoever wrote it there: keys, access tokens, and what stands behind `Bearer` or in a URL. */
const SECRETS: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(sk|sat)-\w{8,}/g, "$1-…"],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, "$1 …"],
  [/(\/\/[^\s:/@]+):[^\s/@]+@/g, "$1:…@"],
  [/#login=\w+/g, "#login=…"]
]

/** The same text without secrets. */
const scrubbed = (text: string): string =>
  SECRETS.reduce((left, [secret, mark]) => left.replaceAll(secret, mark), text)

const textOf = (part: unknown): string =>
  typeof part === "string" ? part : Cause.isCause(part) ? Cause.pretty(part) : String(part)

/** Time, level, message, what is known of the request, and the cause: one object a line. */
const lines = Logger.make(({ cause, date, fiber, logLevel, message }) => {
  const parts = Array.isArray(message) ? message : [message]
  const line = {
    time: date.toISOString(),
    level: logLevel.toLowerCase(),
    message: parts.map(textOf).join(" "),
    ...fiber.getRef(References.CurrentLogAnnotations),
    ...(cause.reasons.length > 0 && { cause: Cause.pretty(cause) })
  }
  return scrubbed(JSON.stringify(line))
})

/** `name=value` pairs: where each request is told, an event of several lines could not be found among them. */
const pairs = Logger.map(Logger.formatLogFmt, scrubbed)

export const LogsLayer = Layer.unwrap(
  Effect.map(ServerConfig, ({ operation: { log, logRequests } }) =>
    log === "json" || logRequests
      ? Logger.layer([Logger.withConsoleError(log === "json" ? lines : pairs)])
      : Layer.empty
  )
)
