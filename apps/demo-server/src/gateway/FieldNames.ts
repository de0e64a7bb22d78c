/**
 * The names of a body's fields. What is passed on is read by others once more, who differ in which of two fields of a
 * name counts, and some of whom take `Model` for `model`: what they make must be what was permitted and is paid for.
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
import { NEW_NAME } from "./ChatLimit.ts"

const READ: ReadonlySet<string> = new Set([
  NEW_NAME,
  ...[ChatRequest, EmbeddingRequest, RerankRequest, ImageRequest, VideoRequest].flatMap(({ from }) =>
    Object.keys(from.schema.fields)
  )
])

/** As readers do who know no case: a few letters are others of the alphabet in one case alone. */
const folded = (name: string): string => name.toUpperCase().toLowerCase()

const isOther = (name: string): boolean => !READ.has(name) && READ.has(folded(name))

const refuse = (message: string, param: string) =>
  new Failure({ status: 400, message, param: param.slice(0, 64), retryable: false })

/** What is wrong with the names of a body, if anything is. */
export const misnamed = (body: string): Failure | undefined => {
  const seen = new Set<string>()
  for (const [name] of fieldNames(body)) {
    if (isOther(name)) return refuse(`The body has \`${name}\`: the field is \`${folded(name)}\``, name)
    if (seen.has(name)) return refuse(`\`${name.slice(0, 64)}\` stands twice in the body: send it once`, name)
    seen.add(name)
  }
  return undefined
}

/** A letter that is escaped may make a name that is there already. */
const ESCAPED_LETTER = /\\u00[3-7]/

/** Read element by element where they are usual. */
const LISTS: ReadonlySet<string> = new Set(["messages", "documents", "input"])

/** What may be a number that no number here holds, and that the contract refuses. */
const HUGE = /(?<!\d)\d{200}|\d[eE]\+?\d{3}/

const mayBeHuge = (name: string, value: unknown, body: string): boolean =>
  typeof value === "number"
    ? !Number.isFinite(value)
    : typeof value === "object" && !LISTS.has(name) && HUGE.test(body)

/** Names that are looked for at most: all of the body is looked through for each, and no usual one has half as many. */
const LOOKED_FOR = 64

/** Whether names and numbers are surely right, of a body that is parsed: a look, where `misnamed` reads. */
export const isWellNamed = (fields: Readonly<Record<string, unknown>>, body: string): boolean => {
  let names = 0
  for (const name in fields) {
    if (++names > LOOKED_FOR || isOther(name)) return false
    const quoted = `"${name}"`
    if (body.includes(quoted, body.indexOf(quoted) + 1) || mayBeHuge(name, fields[name], body)) return false
  }
  return !ESCAPED_LETTER.test(body)
}
