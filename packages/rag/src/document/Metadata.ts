/** Metadata that a program attaches to a document, checked before anything of the document is written. */
import { Effect } from "effect"
import type { Metadata } from "./Document.ts"
import { ingestError } from "./RagError.ts"

/** Maximum size of a document's metadata: bytes of its JSON (64 KiB). */
export const METADATA_BYTES = 64 * 1024

/** Maximum nesting of arrays and objects. */
const DEPTH = 32

/**
 * Calls `metadata`, which may throw, and checks what it returns: undefined, or a plain object of JSON values of at most
 * `METADATA_BYTES`. Fails with `Malformed`, which names the key, or with `TooLarge`.
 */
export const resolveMetadata = Effect.fn("Metadata.resolve")(function* (
  path: string,
  metadata: () => unknown
) {
  const value = yield* Effect.try({
    try: metadata,
    catch: (cause) => {
      const message = `The metadata function failed for ${path}: ${String(cause)}. Fix it, and ingest again.`
      return ingestError(path, "Malformed", message, cause)
    }
  })
  if (value === undefined) return undefined
  const fault = isObject(value) ? faultOf(value, "", 0) : "it is not a plain object"
  if (fault !== undefined) {
    const message = `The metadata of ${path} is not JSON: ${fault}. Use strings, finite numbers, true, false, null, and arrays and objects of these.`
    return yield* ingestError(path, "Malformed", message)
  }
  const bytes = Buffer.byteLength(JSON.stringify(value))
  if (bytes > METADATA_BYTES) {
    const message = `The metadata of ${path} has ${bytes} bytes as JSON; the limit is ${METADATA_BYTES}. Attach only what you filter by.`
    return yield* ingestError(path, "TooLarge", message)
  }
  return value as Metadata
})

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Which value is not JSON, and why. A value that contains itself exceeds the depth. */
const faultOf = (value: unknown, at: string, depth: number): string | undefined => {
  if (depth > DEPTH) return `${at.slice(0, 100)} … is more than ${DEPTH} levels deep`
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `${at} is ${value}`
  if (!Array.isArray(value) && !isObject(value)) return `${at} is ${typeName(value)}`
  for (const [key, inner] of Object.entries(value)) {
    const fault = faultOf(inner, at === "" ? JSON.stringify(key) : `${at}.${key}`, depth + 1)
    if (fault !== undefined) return fault
  }
  return undefined
}

const typeName = (value: unknown): string =>
  typeof value === "object" && value !== null
    ? `a ${value.constructor?.name ?? "foreign object"}`
    : `of type ${typeof value}`
