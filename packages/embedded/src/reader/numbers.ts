/** Numbers in a text, in digits or words, and the things that they number: “pump 11”, “hall three”, “第17次”. */
import { tokenize } from "../text/tokenize.ts"

/** From 1 on; each the forms of one number. */
const FORMS =
  "one first un uno primer ein eins 一|two second ii deux dos zwei 二 两|three third iii trois tres drei 三|four fourth iv quatre cuatro vier 四|five fifth v cinq cinco fünf 五|six sixth vi seis sechs 六|seven seventh vii sept siete sieben 七|eight eighth viii huit ocho acht 八|nine ninth ix neuf nueve neun 九|ten tenth dix diez zehn 十|eleven onze once elf|twelve douze doce zwölf|thirteen treize trece dreizehn|fourteen quatorze catorce vierzehn|fifteen quinze quince fünfzehn|sixteen seize sechzehn|seventeen siebzehn|eighteen achtzehn|nineteen neunzehn|twenty vingt veinte zwanzig"
const values = new Map(
  FORMS.split("|").flatMap((forms, i) =>
    forms.split(" ").flatMap((form) => tokenize(form).map(({ key }) => [key, String(i + 1)] as const))
  )
)

/** A number's digits, if a term is one. */
export const digitsOf = (key: string): string | undefined =>
  /^\d{1,20}$/.test(key) ? key.replace(/^0+(?=\d)/, "") : values.get(key)

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
    const number = kind === "pair" ? undefined : digitsOf(key)
    if (number === undefined) {
      if (!stop) thing = key
      continue
    }
    all.add(number)
    if (thing === "") continue
    const known = things.get(thing)
    if (known === undefined) things.set(thing, new Set([number]))
    else known.add(number)
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
