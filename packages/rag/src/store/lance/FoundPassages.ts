/** Passages that searches found lately: each is made of its JSON once, and stays the same object. */
import type { StoredPassage } from "../../document/Document.ts"
import { toPassage } from "./LanceRows.ts"

/**
 * Characters of JSON that are remembered at least, and at most twice as many, in all collections together: 5,000 to 10,000
 * passages, 32 MB of heap with all that is made of them, and 60 MB where they are lines of pages. Of 10,771 a question
 * takes 9 % less for it, the reranker a quarter; of many more it finds other ones each time.
 */
const CHARACTERS = 6_000_000

let recent = new Map<string | number, StoredPassage>()
let before = new Map<string | number, StoredPassage>()
let characters = 0

/** The passage that a column `passage` says, frozen: a ranking may know it again. */
export const foundPassage = (json: string): StoredPassage => rememberedPassage(json, json.length, () => json)

/** The same of a column that is read where its passage is not remembered; the key stands for no other. */
export const rememberedPassage = (
  key: string | number,
  length: number,
  json: () => string
): StoredPassage => {
  const known = recent.get(key)
  if (known !== undefined) return known
  const passage = before.get(key) ?? frozen(toPassage(json()))
  if (characters > CHARACTERS) {
    before = recent
    recent = new Map()
    characters = 0
  }
  recent.set(key, passage)
  characters += length
  return passage
}

const frozen = (passage: StoredPassage): StoredPassage => {
  Object.freeze(passage.document)
  Object.freeze(passage.headings)
  Object.freeze(passage.lines)
  Object.freeze(passage.figure)
  return Object.freeze(passage)
}
