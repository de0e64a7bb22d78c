/**
 * The field names of a body. Upstreams parse it again: some use the first of two equal names and some the last, and
 * some accept `Model` for `model`. What they see must be what was permitted and reserved.
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

const READ: ReadonlySet<string> = new Set([
  NEW_LIMIT_NAME,
  ...[ChatRequest, EmbeddingRequest, RerankRequest, ImageRequest, VideoRequest].flatMap(({ from }) =>
    Object.keys(from.schema.fields)
  )
])

/** Folds case as case-insensitive parsers do: some characters are equal to letters in one case only. */
const folded = (name: string): string => name.toUpperCase().toLowerCase()

const isOther = (name: string): boolean => !READ.has(name) && READ.has(folded(name))

const refuse = (message: string, param: string) =>
  new Failure({ status: 400, message, param: param.slice(0, 64) })

/** Refuses a body with repeated names, or with names that differ from a known one only in case. */
export const checkFieldNames = (body: string): Failure | undefined => {
  const seen = new Set<string>()
  for (const [name] of fieldNames(body)) {
    if (isOther(name)) return refuse(`The body has \`${name}\`: the field is \`${folded(name)}\``, name)
    if (seen.has(name)) return refuse(`\`${name.slice(0, 64)}\` stands twice in the body: send it once`, name)
    seen.add(name)
  }
  return undefined
}
