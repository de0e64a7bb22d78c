/** Numbers in a text, in digits or words, and the things that they number: “pump 11”, “hall three”, “第17次”. */
import { baseForm } from "../text/baseForms.ts"
import { tokenize } from "../text/tokenize.ts"

export interface Numbers {
  readonly all: ReadonlySet<string>
  /** By the term before them. */
  readonly things: ReadonlyMap<string, ReadonlySet<string>>
}

/** A number belongs to the word before it, or before other numbers and function words: “rooms 14 and 15”. */
export const numberedIn = (text: string): Numbers => {
  const all = new Set<string>()
  const things = new Map<string, Set<string>>()
  let thing = ""
  for (const { key, kind, stop } of tokenize(text)) {
    const number = baseForm(key)
    if (kind === "pair" || !/^\d{1,20}$/.test(number)) {
      if (!stop) thing = key
      continue
    }
    all.add(number)
    if (thing !== "") things.set(thing, (things.get(thing) ?? new Set()).add(number))
  }
  return { all, things }
}

/** 1 if a text has the numbers of a question's things, −1 if it has only other numbers of such a thing, otherwise 0. */
export const sameThings = (question: Numbers, text: Numbers): number => {
  let found = 0
  for (const [thing, wanted] of question.things) {
    const has = text.things.get(thing)
    if (has === undefined) continue
    if (!wanted.isSubsetOf(has)) return -1
    found = 1
  }
  return found
}
