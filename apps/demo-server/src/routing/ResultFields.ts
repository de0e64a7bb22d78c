/** Checks that an upstream's response has a result, without parsing it. */
import type { Operations } from "./Provider.ts"

/** The fields of a result. A response that creates a task has its id and status. */
export const RESULT_FIELDS: Readonly<Record<keyof Operations, ReadonlyArray<string>>> = {
  chat: ["choices"],
  embeddings: ["data"],
  rerank: ["results"],
  images: ["data", "id", "status"],
  videos: ["id", "status"]
}

const KEYS = Object.fromEntries(
  Object.entries(RESULT_FIELDS).map(([operation, names]) => [
    operation,
    names.map((name) => Buffer.from(`"${name}"`))
  ])
) as unknown as Readonly<Record<keyof Operations, ReadonlyArray<Buffer>>>

const SPACE = new Set(Buffer.from(" \t\r\n"))
const [COLON = 0, LIST = 0, LIST_END = 0, QUOTE = 0] = Buffer.from(':[]"')

const skipSpace = (bytes: Buffer, from: number): number => {
  let at = from
  while (SPACE.has(bytes[at] ?? 0)) at++
  return at
}

/** Whether a value that is not empty starts at `at`: a list, or for operations that create tasks also a string. */
const isValue = (operation: keyof Operations, bytes: Buffer, at: number): boolean => {
  if (bytes[at] === LIST) return bytes[skipSpace(bytes, at + 1)] !== LIST_END
  const isTask = operation === "images" || operation === "videos"
  return isTask && bytes[at] === QUOTE && bytes[at + 1] !== QUOTE
}

/** Whether an empty list of results is a valid response to the request. */
export const allowsNoResults = (request: { readonly top_n?: unknown }): boolean => request.top_n === 0

/** Whether a JSON body has a result. Quotes inside strings are escaped, so a match followed by a colon is a key. */
export const hasResultField = (operation: keyof Operations, bytes: Buffer): boolean =>
  KEYS[operation].some((key) => {
    for (let at = bytes.indexOf(key); at >= 0; at = bytes.indexOf(key, at + 1)) {
      const colon = skipSpace(bytes, at + key.length)
      if (bytes[colon] === COLON && isValue(operation, bytes, skipSpace(bytes, colon + 1))) return true
    }
    return false
  })
