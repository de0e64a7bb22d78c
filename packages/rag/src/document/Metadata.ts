/** What a program attaches to a document, checked before anything of the document is written. */
import { Effect } from "effect"
import type { Metadata } from "./Document.ts"
import { RagError } from "./RagError.ts"

/** Bytes of a document's metadata as JSON (64 KiB): it is to filter by, not to keep documents in. */
export const METADATA_BYTES = 64 * 1024

/** Lists and objects within each other. */
const DEPTH = 32

/**
 * Gives the metadata back when it is a plain object of JSON values, at most `METADATA_BYTES` long. Fails with
 * `Malformed`, which names the key, or `TooLarge`.
 */
export const checkMetadata = Effect.fn("CheckMetadata")(function* (path: string, metadata: unknown) {
  const fault = isObject(metadata) ? faultOf(metadata, "", 0) : "it is no plain object"
  if (fault !== undefined) {
    return yield* new RagError({
      stage: "ingest",
      reason: "Malformed",
      message: `The metadata of ${path} cannot be kept: ${fault}. Texts, finite numbers, true, false, null, and lists and objects of these can.`,
      document: path
    })
  }
  const bytes = Buffer.byteLength(JSON.stringify(metadata))
  if (bytes > METADATA_BYTES) {
    return yield* new RagError({
      stage: "ingest",
      reason: "TooLarge",
      message: `The metadata of ${path} has ${bytes} bytes as JSON; up to ${METADATA_BYTES} are kept. Attach only what you filter by.`,
      document: path
    })
  }
  return metadata as Metadata
})

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Where a value is no JSON, and why; undefined when it is. A value that contains itself is too deep. */
const faultOf = (value: unknown, at: string, depth: number): string | undefined => {
  if (depth > DEPTH) return `${at.slice(0, 100)} … is more than ${DEPTH} levels deep`
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `${at} is ${value}`
  if (!Array.isArray(value) && !isObject(value)) return `${at} is ${nameOf(value)}`
  for (const [key, inner] of Object.entries(value)) {
    const fault = faultOf(inner, at === "" ? JSON.stringify(key) : `${at}.${key}`, depth + 1)
    if (fault !== undefined) return fault
  }
  return undefined
}

const nameOf = (value: unknown): string =>
  typeof value === "object" && value !== null
    ? `a ${value.constructor?.name ?? "foreign object"}`
    : `of type ${typeof value}`
