/** Whether quotes support a sentence, by their words: shared words, numbers, negation, and names. */
import { contentWords, isSameWord, UNSPACED } from "./ContentWords.ts"
import { LIST_SIGN } from "./ProseSentences.ts"
import { sentencesOf } from "./Quote.ts"

export const SUPPORT = {
  /**
   * The share of a sentence's terms that its quotes must have, if they are in the same language. On FoolMeTwice (dev), .7
   * raises the precision of what stays from .68 to .76, and loses more than half of the right sentences that stay.
   */
  share: 0.5,
  /** Terms that a sentence must share with its quotes, if it has as many. */
  terms: 2,
  /** Characters that are compared, because each word of one is compared with those of the other: .1 s at most. */
  sentenceLength: 2_000,
  quotesLength: 30_000,
  /** Sentences that are checked, the closest first, until one supports the claim. */
  tries: 20
} as const

/** Words, and pairs of characters of scripts without spaces. */
const termsOf = (text: string): ReadonlyArray<string> => {
  const words = contentWords(text)
  return words.flatMap((word, i) => {
    if (!UNSPACED.test(word)) return [word]
    const next = words[i + 1]
    return next !== undefined && UNSPACED.test(next) ? [word + next] : []
  })
}

const countShared = (terms: ReadonlySet<string>, text: string): number => {
  const found = Map.groupBy(new Set(termsOf(text)), (word) => word.slice(0, 4))
  return [...terms].filter((term) => found.get(term.slice(0, 4))?.some((other) => isSameWord(term, other)))
    .length
}

const WORD_NUMBERS = new Map(
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
    .split(" ")
    .map((word, number) => [word, String(number)])
)
const TENS = "thirty forty fifty sixty seventy eighty ninety".split(" ")
TENS.forEach((word, i) => WORD_NUMBERS.set(word, String((i + 3) * 10)))

const CHINESE_DIGITS = "零一二三四五六七八九"

/** 十二 → 12, 三十 → 30, 二十五 → 25. Larger units are left out. */
const chineseNumber = (text: string): string => {
  const [tens, units] = text.includes("十") ? text.split("十", 2) : ["", text]
  const digit = (character: string | undefined) => CHINESE_DIGITS.indexOf(character || "零")
  return text.includes("十")
    ? String((tens === "" ? 1 : digit(tens)) * 10 + digit(units))
    : [...text].map((character) => digit(character)).join("")
}

const NUMBER = /\d+(?:[.,:]\d+)*|[一二三四五六七八九十]+|[a-z]+/gi

/** The numbers of a text, in digits: `1,000`, `twelve` and 十二 are `1000`, `12` and `12`. */
export const numbersOf = (text: string): ReadonlySet<string> =>
  new Set(
    (text.normalize("NFKC").match(NUMBER) ?? []).flatMap((found) => {
      if (/^\d/.test(found)) return [found.replaceAll(/,(?=\d{3}(?!\d))/g, "").replace(/^0+(?=\d)/, "")]
      if (/^[a-z]/i.test(found)) return WORD_NUMBERS.get(found.toLowerCase()) ?? []
      return [chineseNumber(found)]
    })
  )

/** Numbers that are written where nothing is counted: "one of them", 一个. */
const WEAK_NUMBERS: ReadonlySet<string> = new Set(["0", "1"])

/** "Passage 2 states that …", "Part 1: …": these numbers state nothing, nor does that of an item of a list. */
const PROMPT_NUMBER =
  /\b(?:passage|source|document|part|textstelle|quelle|teil) \d{1,3}\b|(?:段落|来源|文档|部分) ?\d{1,3}/gi

const missingNumber = (item: string, quotes: string): string | undefined => {
  const sentence = item.replace(LIST_SIGN, "").replace(PROMPT_NUMBER, "")
  const found = numbersOf(quotes)
  const digits = new Set(sentence.normalize("NFKC").match(/\d+(?:[.,:]\d+)*/g) ?? [])
  return [...numbersOf(sentence)].find(
    (number) => !found.has(number) && (digits.has(number) || !WEAK_NUMBERS.has(number))
  )
}

const UNITS = new Set(
  (
    "mm cm m km metre metres meter meters kilometre kilometres second seconds minute minutes hour hours day days night nights " +
    "week weeks month months year years litre litres gram grams kg tonne tonnes crowns euros dollars pounds percent % °c hpa " +
    "kb mb gb tb"
  ).split(" ")
)

/** The units of each number of a text. */
const measuresOf = (text: string): ReadonlyMap<string, ReadonlyArray<string>> => {
  const words =
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/\d+(?:[.,:]\d+)*|%|°c|[a-z]+/g) ?? []
  const found = words.flatMap((unit, i) => {
    const [number] = numbersOf(words[i - 1] ?? "")
    return number === undefined || !UNITS.has(unit) ? [] : [{ number, unit }]
  })
  return new Map(
    [...Map.groupBy(found, ({ number }) => number)].map(([number, list]) => [
      number,
      list.map(({ unit }) => unit)
    ])
  )
}

/** A number with a unit, whose quotes have it with other units only. */
const otherUnit = (sentence: string, quotes: string): string | undefined => {
  const quoted = measuresOf(quotes)
  for (const [number, units] of measuresOf(sentence)) {
    const others = quoted.get(number)
    const unit = units.find((one) => others?.every((other) => !isSameWord(one, other)))
    if (unit !== undefined && others !== undefined) return `${number} ${unit}`
  }
  return undefined
}

/** Lines with cells. */
const TABLE = /(?:(?<![^\n])[^|\n]*\|[^\n]*\n?){2,}/g

/** A number that is only in rows of a table which have no word of the sentence. */
const numberOfOtherRow = (sentence: string, quotes: string): string | undefined => {
  const words = new Set(termsOf(sentence).filter((term) => !/\d/.test(term)))
  const rows = (quotes.match(TABLE) ?? []).flatMap((table) => table.trim().split("\n").slice(1))
  return [...numbersOf(rows.length === 0 ? "" : sentence)].find((number) => {
    const own = rows.filter((row) => numbersOf(row).has(number))
    return own.length > 0 && !own.some((row) => countShared(words, row) > 0)
  })
}

const NEGATION =
  /\b(?:not|no|never|none|neither|nor|without|cannot|nobody|nothing|nowhere|kein\w*|nicht|nie|ohne|jamais|sans|aucun\w*|ningún|ninguna?|nunca|sin)\b|n['’]t\b|\b(?:ne|n['’])\s?\w+\s+pas\b|[不没沒无無未非勿]|(?:ない|ません|않|없)/i

const isNegated = (text: string): boolean => NEGATION.test(text)

/** Whether only one is negated: the sentence, or the sentence of its quotes that shares most words with it. */
const differsInNegation = (sentence: string, quotes: string): boolean => {
  const terms = new Set(termsOf(sentence))
  const [closest = ""] = sentencesOf(quotes)
    .map((quote) => ({ quote, shared: countShared(terms, quote) }))
    .toSorted((a, b) => b.shared - a.shared)
    .map(({ quote }) => quote)
  return isNegated(sentence) ? !isNegated(quotes) : isNegated(closest)
}

/** German capitalises every noun, so that names are not seen. */
const GERMAN =
  /\b(?:der|die|das|und|ist|ein|eine|nicht|von|mit|für)\b.*\b(?:der|die|das|und|ist|ein|eine|nicht|von|mit|für)\b/

/** A name: a capitalised word that does not begin the sentence. */
const NAME = /(?<=[\p{Ll}\p{N},;:]\s{1,3})\p{Lu}[\p{L}\p{N}’'-]{2,}/gu

const missingName = (sentence: string, quotes: string): string | undefined => {
  if (GERMAN.test(sentence)) return undefined
  const names = sentence.match(NAME) ?? []
  const words = contentWords(quotes)
  const initials = quotes.match(/\b\p{Lu}/gu)?.join("") ?? ""
  return names.find(
    (name) =>
      !initials.includes(name.toUpperCase()) &&
      contentWords(name).some((part) => !words.some((word) => isSameWord(word, part)))
  )
}

/** Whether both texts have letters of one script: words of another language cannot be compared. */
const isComparable = (a: string, b: string): boolean =>
  [
    /\p{Script=Latin}/u,
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u,
    /\p{Script=Cyrillic}/u,
    /\p{Script=Arabic}/u
  ].some((script) => script.test(a) && script.test(b))

/** How much of a sentence's terms a text has, 0 to 1; 0 if they share fewer than `SUPPORT.terms`. */
const sharedTerms = (terms: ReadonlySet<string>, text: string): number => {
  const shared = countShared(terms, text)
  return terms.size === 0 || shared < Math.min(SUPPORT.terms, terms.size) ? 0 : shared / terms.size
}

/**
 * Why quotes do not support a sentence, or `undefined` if nothing speaks against it. `context` is text beside the quotes that
 * counts for names: the title of their document, the question.
 */
export const unsupportedReason = (claim: string, quoted: string, context = ""): string | undefined => {
  const sentence = claim.slice(0, SUPPORT.sentenceLength)
  const quotes = quoted.slice(0, SUPPORT.quotesLength)
  const number = missingNumber(sentence, `${quotes} ${context}`)
  if (number !== undefined) return `The number ${number} is not in its quotes.`
  const measure = otherUnit(sentence, quotes)
  if (measure !== undefined) return `Its quotes have another unit than ${measure}.`
  if (!isComparable(sentence, quotes)) return undefined
  const other = numberOfOtherRow(sentence, quotes)
  if (other !== undefined) return `The number ${other} is in another row of its quotes.`
  if (differsInNegation(sentence, quotes)) return "Only one of the sentence and its quotes is negated."
  const name = missingName(sentence, `${quotes} ${context}`)
  if (name !== undefined) return `The name ${name} is not in its quotes.`
  return sharedTerms(new Set(termsOf(sentence)), `${quotes} ${context}`) < SUPPORT.share
    ? "Its quotes share too few words with it."
    : undefined
}

/** The sentences of a passage, its tables, and their rows with the head of the table. */
const quotesIn = (passage: string) => {
  const tables = (passage.match(TABLE) ?? []).map((table) => table.trim())
  const rows = tables.flatMap((table) => {
    const [head = "", ...lines] = table.split("\n")
    return lines.map((quote) => ({ quote, head }))
  })
  const whole = [...sentencesOf(passage.replace(TABLE, "\n\n")), ...tables]
  return [...rows, ...whole.map((quote) => ({ quote, head: "" }))]
}

/** The sentence or row of a passage that supports a claim best, if one does: see `SUPPORT`. `title`: that of the passage. */
export const supportingSentence = (
  claim: string,
  passage: string,
  title = ""
): { readonly quote: string; readonly share: number } | undefined => {
  const sentence = claim.slice(0, SUPPORT.sentenceLength)
  const terms = new Set(termsOf(sentence))
  return quotesIn(passage.slice(0, SUPPORT.quotesLength))
    .map(({ head, quote }) => {
      const share = sharedTerms(terms, `${head} ${quote}`)
      // Of two that share as much, the shorter one.
      return { quote, head, share, closeness: share / Math.sqrt(Math.max(1, new Set(termsOf(quote)).size)) }
    })
    .filter(({ share }) => share >= SUPPORT.share)
    .toSorted((a, b) => b.closeness - a.closeness)
    .slice(0, SUPPORT.tries)
    .find(({ head, quote }) => unsupportedReason(sentence, quote, `${title} ${head}`) === undefined)
}
