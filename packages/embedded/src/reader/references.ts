/** References by number: things such as “meeting 41”, “version 3.0”, “pump X100” and “第41次”, and figures and tables. */
import { isStopWord } from "../text/StopWords.ts"

const WORDS = "one two three four five six seven eight nine ten eleven twelve".split(" ")
/** Other forms of the numbers, from 2 on, because “I” and “first” have other meanings. */
const ROMAN = "ii iii iv v vi vii viii ix x xi xii".split(" ")
const ORDINALS = "second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(" ")
const NUMBER = `(?:\\p{L}{1,6}\\d{1,6}|\\d{1,9}(?:\\.\\d{1,6}){0,4}|(?:${WORDS.join("|")})\\b)`
/** Not followed by what is counted or measured: “20 people”, “30 minutes”, “6 kg”. */
const COUNTED =
  "(?![\\p{L}\\p{N}_%°€$£]|[.,:]\\d|\\s?[%°€$£]|\\s(?:(?!(?:is|was|has|does)\\b)\\p{L}{2,30}s|people|men|women|children|euro|yen|yuan|hertz|per|[kmcµ]?[mglWVsh]|[kM]Wh?|[kMG]B)\\b)"
const NAMED = new RegExp(`(?<![\\p{L}\\p{N}])(\\p{L}{2,30})\\s(${NUMBER})${COUNTED}`, "giu")
const NAMED_CJK = /第\s?([\d零一二三四五六七八九十百]{1,6})\s?(\p{Script=Han})|(?<!月)(\d{1,6})(号)/gu

/** Nouns whose numbers are no names here: figures and tables have their own rule, pages are not in the text, dates vary. */
const EXCLUDED_NOUN =
  /^(?:fig(?:ure)?|tab(?:le)?|page|pp|year|in|jan\w*|feb\w*|mar(?:ch)?|apr\w*|may|june?|july?|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*)$/i

export interface NumberedThing {
  readonly noun: string
  readonly number: string
  /** Matches the number by itself. */
  readonly alone: RegExp
  /** Matches the noun with one or several numbers. */
  readonly mentions: RegExp
}

const digits = (number: string): string => {
  const word = WORDS.indexOf(number.toLowerCase())
  return word < 0 ? number.toLowerCase().replace(/^0+(?=\d)/, "") : String(word + 1)
}

/** Version 3 includes 3.1, but 3.0 does not. */
const isSame = (a: string, b: string): boolean => a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`)

const LIST = `${NUMBER}(?:\\s?(?:,|&|–|-|and|or|to)\\s?${NUMBER}){0,6}`

export const numberedThingsIn = (question: string): ReadonlyArray<NumberedThing> => [
  ...Array.from(question.matchAll(NAMED), ([, noun = "", said = ""]): NumberedThing => {
    const number = digits(said)
    const one = noun.toLowerCase().replace(/s$/, "")
    const at = Number(number)
    const words = [WORDS[at - 1], ROMAN[at - 2], ORDINALS[at - 2]].filter((word) => word !== undefined)
    return {
      noun,
      number,
      alone: new RegExp(
        `(?<![\\d.])0*${number.replaceAll(".", "\\.")}(?!\\d)|\\b(?:${words.join("|") || "(?!)"})\\b`,
        "i"
      ),
      mentions: new RegExp(
        `(?<![\\p{L}\\p{N}])${one}(?:s|es)?\\s?(?:no\\.?|number|nr\\.?|#)?\\s?(${LIST})${COUNTED}`,
        "giu"
      )
    }
  }).filter(({ noun }) => !isStopWord(noun.toLowerCase()) && !EXCLUDED_NOUN.test(noun)),
  ...Array.from(
    question.matchAll(NAMED_CJK),
    ([, ordinal, counted = "", number = "", mark = ""]): NumberedThing => ({
      noun: counted + mark,
      number: ordinal ?? number,
      alone: new RegExp(`(?<!\\d)${ordinal ?? number}(?!\\d)`),
      mentions:
        ordinal === undefined
          ? /(?<![月\d])(\d{1,6})号/gu
          : new RegExp(
              `第\\s?(${/\d/.test(ordinal) ? "\\d{1,6}" : "[零一二三四五六七八九十百]{1,6}"})\\s?${counted}`,
              "gu"
            )
    })
  )
]

/** True if a text names that thing, false if it names only others of its kind, undefined if none. */
export const mentionsThing = ({ mentions, number }: NumberedThing, text: string): boolean | undefined => {
  let others: false | undefined
  for (const [, list = ""] of text.matchAll(mentions)) {
    const found = Array.from(
      list.matchAll(new RegExp(`${NUMBER}|[零一二三四五六七八九十百]+`, "giu")),
      ([each]) => digits(each)
    )
    const [from, to] = found
    const range = found.length === 2 && /–|-|to/.test(list)
    if (
      found.some((each) => isSame(each, number)) ||
      (range && Number(from) < Number(number) && Number(number) < Number(to))
    )
      return true
    others = false
  }
  return others
}

const FIGURE_NUMBER = "(?:[A-Z]{1,2}[.-]?)?\\d{1,3}(?:[.-]\\d{1,3}){0,2}(?!\\d)"
const FIGURES = new RegExp(
  `(?:\\b(fig(?:ure)?s?|tab(?:le)?s?)\\.?|(?<![代发發列仪儀外年地])([图圖図表]))\\s{0,3}(${FIGURE_NUMBER}(?:\\s{0,2}(?:,|、|&|and|to|or|和|与|至|到|[–-])\\s{0,2}${FIGURE_NUMBER}){0,6})`,
  "giu"
)
const ONE_FIGURE = new RegExp(FIGURE_NUMBER, "giu")

const kindOf = (word: string): string => (/^(?:fig|[图圖図])/iu.test(word) ? "figure" : "table")

/** Figures and tables as `figure 3`, `table b.2`, from “Fig. 3”, “Tables 4 and 5”, “图3”. “Figures 2–5” gives the two ends. */
export const figuresIn = (text: string): ReadonlySet<string> => {
  const found = new Set<string>()
  for (const [, word, cjk, numbers = ""] of text.matchAll(FIGURES)) {
    for (const [number] of numbers.matchAll(ONE_FIGURE))
      found.add(`${kindOf(word ?? cjk ?? "")} ${number.toLowerCase()}`)
  }
  return found
}
