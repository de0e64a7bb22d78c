/** Whether an upstream's answer has what was asked for, without reading the rest of it. */
import type { Operations } from "./Provider.ts"

/** What was asked for, and of a call that makes a task its id or its state. */
export const GIVEN: Readonly<Record<keyof Operations, ReadonlyArray<string>>> = {
  chat: ["choices"],
  embeddings: ["data"],
  rerank: ["results"],
  images: ["data", "id", "status"],
  videos: ["id", "status"]
}

const KEYS = Object.fromEntries(
  Object.entries(GIVEN).map(([operation, names]) => [
    operation,
    names.map((name) => Buffer.from(`"${name}"`))
  ])
) as unknown as Readonly<Record<keyof Operations, ReadonlyArray<Buffer>>>

const SPACE = new Set(Buffer.from(" \t\r\n"))
const [COLON = 0, LIST = 0, LIST_END = 0, QUOTE = 0] = Buffer.from(':[]"')

const next = (bytes: Buffer, from: number): number => {
  let at = from
  while (SPACE.has(bytes[at] ?? 0)) at++
  return at
}

/** A list with something in it; or the word of a task, which is a string and not empty. */
const isValue = (operation: keyof Operations, bytes: Buffer, at: number): boolean => {
  if (bytes[at] === LIST) return bytes[next(bytes, at + 1)] !== LIST_END
  const isTask = operation === "images" || operation === "videos"
  return isTask && bytes[at] === QUOTE && bytes[at + 1] !== QUOTE
}

/** Whether nothing may be what was asked for: an empty list is then the whole answer. */
export const asksForNothing = (request: { readonly top_n?: unknown }): boolean => request.top_n === 0

/** In a text the quotes would be escaped: what is found is a key where a colon follows. */
export const holds = (operation: keyof Operations, bytes: Buffer): boolean =>
  KEYS[operation].some((key) => {
    for (let at = bytes.indexOf(key); at >= 0; at = bytes.indexOf(key, at + 1)) {
      const colon = next(bytes, at + key.length)
      if (bytes[colon] === COLON && isValue(operation, bytes, next(bytes, colon + 1))) return true
    }
    return false
  })
