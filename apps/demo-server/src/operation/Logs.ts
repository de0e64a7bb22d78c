/** The log on standard error: JSON or `name=value`, by configuration. */
import { Array, Cause, Effect, Layer, Logger, References } from "effect"
import { ServerConfig } from "../config/ServerConfig.ts"

/** Secrets that no line may contain: keys, access tokens, `Bearer` headers, URL credentials. */
const SECRETS: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(sk|sat)-\w{8,}/g, "$1-…"],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, "$1 …"],
  [/(\/\/[^\s:/@]+):[^\s/@]+@/g, "$1:…@"],
  [/#login=\w+/g, "#login=…"]
]

/** Removes secrets from a text. */
const scrub = (text: string): string =>
  SECRETS.reduce((left, [secret, mark]) => left.replaceAll(secret, mark), text)

const textOf = (part: unknown): string =>
  typeof part === "string" ? part : Cause.isCause(part) ? Cause.pretty(part) : String(part)

/** One JSON object per line: time, level, message, annotations, cause. */
const lines = Logger.make(({ cause, date, fiber, logLevel, message }) => {
  const line = {
    time: date.toISOString(),
    level: logLevel.toLowerCase(),
    message: Array.ensure(message).map(textOf).join(" "),
    ...fiber.getRef(References.CurrentLogAnnotations),
    ...(cause.reasons.length > 0 && { cause: Cause.pretty(cause) })
  }
  return scrub(JSON.stringify(line))
})

/** `name=value` pairs, so that an event is one line. */
const pairs = Logger.map(Logger.formatLogFmt, scrub)

export const LogsLayer = Layer.unwrap(
  Effect.map(ServerConfig, ({ operation: { log, logRequests } }) =>
    log === "json" || logRequests
      ? Logger.layer([Logger.withConsoleError(log === "json" ? lines : pairs)])
      : Layer.empty
  )
)
