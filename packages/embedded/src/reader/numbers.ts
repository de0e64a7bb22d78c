/** Numbers in a text, in digits or words, and the things that they number: “pump 11”, “hall three”, “第17次”. */
import { baseForm } from "../text/baseForms.ts"
import { tokenize } from "../text/tokenize.ts"

export interface Numbers {
  readonly all: ReadonlySet<string>
  /** By the term before them. */
  readonly things: ReadonlyMap<string, ReadonlySet<string>>
}

export const NO_NUMBERS: Numbers = { all: new Set(), things: new Map() }

/** A number belongs to the word before it, or before other numbers and function words: “rooms 14 and 15”. */
export const numberedIn = (text: string): Numbers => {
  const all = new Set<string>()
  const things = new Map<string, Set<string>>()
  let thing = ""
  for (const { key, kind, stop } of tokenize(text)) {
    const number = kind === "pair" ? "" : baseForm(key)
    if (/^\d{1,20}$/.test(number)) {
      all.add(number)
      if (thing !== "") things.set(thing, (things.get(thing) ?? new Set()).add(number))
    } else if (!stop) thing = key
  }
  return { all, things }
}

/** 1 if a text has the numbers of a question's things, −1 if it has only other numbers of such a thing, otherwise 0. */
export const sameThings = (question: Numbers, text: Numbers): number => {
  const both = [...question.things.keys()].filter((thing) => text.things.has(thing))
  if (both.length === 0) return 0
  return both.every((thing) => question.things.get(thing)!.isSubsetOf(text.things.get(thing)!)) ? 1 : -1
}
