/**
 * Checks the field names of a body. Upstreams parse the body again: of two equal names some use the first and some the
 * last, and some accept `Model` for `model`. They must read the fields that were permitted and reserved.
 */
import {
  ChatRequest,
  EmbeddingRequest,
  Failure,
  ImageRequest,
  RerankRequest,
  VideoRequest
} from "@sluice/core/contract"
import { fieldNames } from "../wire/JsonScanner.ts"
import { NEW_LIMIT_NAME } from "./ChatLimit.ts"

const FIELD_NAMES: ReadonlySet<string> = new Set([
  NEW_LIMIT_NAME,
  ...[ChatRequest, EmbeddingRequest, RerankRequest, ImageRequest, VideoRequest].flatMap(({ fields }) =>
    Object.keys(fields)
  )
])

/** Folds case as case-insensitive parsers do. Some characters are equal to letters in one case only. */
const foldCase = (name: string): string => name.toUpperCase().toLowerCase()

/** Characters of a known name at most. Folding those of a long name takes half a second of the one thread. */
const LONGEST_NAME = Math.max(...Array.from(FIELD_NAMES, ({ length }) => length))

const isMisspelt = (name: string): boolean =>
  name.length <= LONGEST_NAME && !FIELD_NAMES.has(name) && FIELD_NAMES.has(foldCase(name))

const reject = (message: string, param: string) =>
  new Failure({ status: 400, message, param: param.slice(0, 64) })

/** Rejects repeated names, and names that differ from a known one only in case. */
export const checkFieldNames = (body: string): Failure | undefined => {
  const seen = new Set<string>()
  for (const [name] of fieldNames(body)) {
    if (isMisspelt(name)) return reject(`Unknown field \`${name}\`. Use \`${foldCase(name)}\``, name)
    if (seen.has(name)) return reject(`The body has \`${name.slice(0, 64)}\` twice. Send it once`, name)
    seen.add(name)
  }
  return undefined
}
