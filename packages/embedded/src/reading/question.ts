/** What a question asks about: its terms and their weights. */
import type { Term } from "../text/Term.ts"
import { termsOf } from "../text/termsOf.ts"

/** Verbs of asking, and what stands after "how": they say what answer is wanted, not what about. */
const asking = new Set(
  "tell explain describe list say mean happen please long much old often far kind type sort name call give know anybody somebody".split(
    " "
  )
)
const ASKING_WEIGHT = 0.25

const askingCharacters = /[什么多少几何谁哪怎样吗呢请问为是的有]/u

/** A word with a capital letter that does not begin a sentence. */
const NAME = /(?<=[\p{L}\p{N},)'’"] )\p{Lu}[\p{L}\p{N}]+/gu

export const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))

/** What a character counts against a pair. */
const CHARACTER_WEIGHT = 0.3

export interface Question {
  /** As it was asked. */
  readonly text: string
  /** All its words, those that say little among them. */
  readonly words: ReadonlySet<string>
  readonly terms: ReadonlyArray<Term>
  readonly weights: ReadonlyArray<number>
  /** Its numbers: a sentence with others speaks of something else. */
  readonly numbers: ReadonlyArray<Term>
  /** Places of the terms that are names: written with a capital letter within the question. */
  readonly names: ReadonlyArray<number>
  /** Places of the terms that are neither numbers nor words of asking. */
  readonly subject: ReadonlyArray<number>
  /** Whether most of what it asks about is CJK. */
  readonly cjk: boolean
}

const weightOf = ({ idf, key, kind }: Term): number => {
  if (kind === "word") return asking.has(key) ? idf * ASKING_WEIGHT : idf
  if (askingCharacters.test(key)) return 0
  return kind === "pair" ? idf : idf * CHARACTER_WEIGHT
}

/** Whether a term is a number, or a part of one: `4.80` is two terms. */
export const isNumber = ({ key }: Term): boolean => /^\d+$/.test(key)

export const questionOf = (text: string): Question => {
  const all = [...new Set(termsOf(text))].filter(({ stop }) => !stop)
  const weighed = all.map((term) => ({ term, weight: weightOf(term) })).filter(({ weight }) => weight > 0)
  const sum = (cjk: boolean) =>
    weighed.reduce((total, { term, weight }) => total + ((term.kind !== "word") === cjk ? weight : 0), 0)
  const capitals = new Set(termsOf([...text.matchAll(NAME)].map(([name]) => name).join(" ")))
  return {
    text,
    words: wordsOf(text),
    names: [...weighed.keys()].filter((i) => {
      const term = weighed[i]?.term
      return term?.kind === "word" && capitals.has(term) && !isNumber(term)
    }),
    terms: weighed.map(({ term }) => term),
    weights: weighed.map(({ weight }) => weight),
    numbers: all.filter(isNumber),
    subject: [...weighed.keys()].filter((i) => {
      const term = weighed[i]?.term
      return term !== undefined && !isNumber(term) && !asking.has(term.key)
    }),
    cjk: sum(true) > sum(false)
  }
}
