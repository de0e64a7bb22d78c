/** Parses a question: its terms, their weights, and what kind of answer it asks for. */
import type { Term } from "../text/Term.ts"
import { tokenize } from "../text/tokenize.ts"
import { focusWords, predicateWord, IMPLIED_WORDS } from "./focus.ts"
import { type NumberedThing, numberedThingsIn } from "./references.ts"

/** Verbs of asking, and words after "how": they tell the kind of answer, not the topic. */
const asking = new Set(
  "tell explain describe list say mean happen please long much old often far kind type sort name call give know anybody somebody".split(
    " "
  )
)
const ASKING_WEIGHT = 0.25

/** The attribute in “what *colour* is …”. An answer need not name it. */
const ATTRIBUTE =
  /^\W*(?:what|which)\s+(\p{L}{3,30})\s+(?:is|are|was|were|has|have|had|does|do|did|can|may|must|should|will|would)\b/iu
const ATTRIBUTE_WEIGHT = 0.4

/** The place in “in the Raft *paper*”. The paper need not name itself. */
const PLACE =
  /\b(?:of|in|from|to|by)\s+(?:the|this|that)\s+(?:\p{L}{1,30}\s+){0,2}?(paper|article|document|report|pdf|manual|handbook)\b/giu

/** The verb in “who *built* …”. An answer or its context names it. */
const DOING =
  /\bwho(?:m)?\s+(?!(?:is|are|was|were|has|had|have|can|may|must|should|will|would|did|does|do|uses?|used|else)\b)(\p{L}{2,30})/iu
const DONE = /\bwhen (?:was|were)\b.{0,80}?\s(\p{L}{2,30}(?:ed|ilt|own))\b/iu
const WHEN_DOES = /\bwhen (?:do|does|did|will)\b/i
const MADE =
  /\bwhen (?:was|were)\b.*\b(?:built|made|constructed|erected|founded|established|created|written|painted|completed|laid|cast)\b/iu
/** Asks how something is done. */
const MANNER = /\bhow (?:does|do|did|can|could|should)\b/i
/** What is counted, the head of its words: “how many steam *engines*”. */
const COUNTED =
  /\bhow many\s+(?:(?!(?:is|are|was|were|has|have|had|does|do|did|can|in|of|on|at|for|with)\b)\p{L}[\p{L}\p{N}'’-]*\s+){0,4}?(?!(?:is|was|has|does)\b)(\p{L}{2,28}(?<!s)s|people|men|women|children|data|mice|feet|teeth)\b/iu
const TIMES = new Set(["times"])
/** “How *wide* …”. An answer may say “width”. */
const MEASURE = /\bhow (\p{L}{3,10})\b/iu
/** “How much does it *cost*”, “*weigh*”. The unit of an amount implies the verb. */
const AMOUNT =
  /\b(?:how much|what) (?:does|do|did|will|would)\b.*\b(cost)\b|\bhow much (?:does|do|did|will|would)\b.*\b(earn|pay|weigh)\b/iu
const UNITED = /\bhow (?:long|old|heavy|wide|deep|high|tall)\b|\bhow much (?:is|are|was|were)\b/i
/** The kind of thing in “which *university*”. */
const ONE_OF = /\b(?:which|what)\s+(?:(?:two|three|four|five|\d{1,3})\s+)?(\p{L}{2,30})/iu
export const YEAR = /(?<![\d.,])(?:1[5-9]|20)\d\d(?![\d.,]*\d)/g
/** Asks about a time relative to the year. */
const RELATIVE_TO_YEAR =
  /\b(?:after|since|before|between|until|till|from|by|around)\s+(?:1[5-9]|20)\d\d\b|[前后至到]/i

const ASKS_FOR =
  /^\W*(?:tell|explain|describe|list|say|name|give|show|define)\b|\b(?:who(?:m|se)?|what|which|when|where|why|how)\b|什么|怎|如何|哪|谁|几|多少|多[久长高大深远重快宽]|何/iu
/** “*Are* dogs allowed when …”, but not “can you tell me who …”. */
export const WHETHER =
  /^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|shall|should|will|would)\b(?!.*\b(?:tell|know|ask|say|explain)\b)|\bwhether\b|吗|是否|(\p{Script=Han})[不没]\1/iu

/** German function words. Two of them, or one at the beginning, make a question German. */
const german = new Set(
  "wie wer wo wann warum wieso weshalb wieviel wem wen welche welcher welches welchen welchem ist sind das ein eine einen einem einer eines und oder nicht kann darf muss soll wird werden wurde wurden haben im auf für vom zum zur bei nach aus über unter ich wir sie es gibt gilt".split(
    " "
  )
)
/** German function words that English questions have too. */
const germanOrEnglish = new Set("die der dem den was war hat in an so man mit von".split(" "))
/** As `asking`, in German. */
const germanAsking = new Set(
  "kostet kosten hoch lang lange viel viele teuer groß schwer weit heißt".split(" ")
)

const isGerman = (text: string): boolean =>
  GERMAN.test(text) ||
  distinctWords(text)
    .values()
    .filter((word) => german.has(word))
    .drop(1)
    .some(() => true)

const germanWeight = (word: string): number =>
  german.has(word) || germanOrEnglish.has(word) ? 0 : germanAsking.has(word) ? ASKING_WEIGHT : 1

/** The weight of each word of a German question. */
const germanWeights = (text: string): ReadonlyMap<Term, number> =>
  new Map(
    [...distinctWords(text)].flatMap((word) =>
      tokenize(word).map((term) => [term, germanWeight(word)] as const)
    )
  )

const askingCharacters = /[什么多少几何谁哪怎样吗呢请问为是的有]/u

/** The beginning of a question in German alone. */
const GERMAN =
  /^\W*(?:wie|wer|wann|warum|wieso|weshalb|wieviel|welche[mnrs]?|was\s+(?:kostet|kosten|ist|sind|gilt))\s/iu

/** Capitalized words that do not begin a sentence. */
const NAME = /(?<=[\p{L}\p{N},)'’"] )\p{Lu}[\p{L}\p{N}]+(?: \p{Lu}[\p{L}\p{N}]+){0,5}/gu

/** The word before an identifier: “*pump* X100”. */
const IDENTIFIED = /\p{L}{3,30}(?=\s[\p{L}-]{0,10}\p{Lu}[\p{L}-]{0,10}\d)/gu

const NUMBER_WORDS = "two three four five six seven eight nine ten eleven twelve".split(" ")
const FIGURE = new RegExp(
  `(?<![\\p{L}\\d])(?:\\d{1,20}(?:[.,]\\d{1,20}){0,5}|${NUMBER_WORDS.join("|")})(?![\\p{L}\\d])`,
  "gu"
)

export const distinctWords = (text: string): ReadonlySet<string> =>
  new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))

/** The weight of a character relative to a pair. */
const CHARACTER_WEIGHT = 0.3

export interface Question {
  readonly text: string
  /** All its words, stop words too. */
  readonly words: ReadonlySet<string>
  readonly terms: ReadonlyArray<Term>
  readonly weights: ReadonlyArray<number>
  /** Its numbers. A sentence with others is about something else. */
  readonly numbers: ReadonlyArray<Term>
  /** Its names (capitalized words within it), each as the indexes of its terms. */
  readonly names: ReadonlyArray<ReadonlyArray<number>>
  /** A pattern for each number, also in words from two to twelve. 5 does not match in 13.5. */
  readonly figures: ReadonlyArray<RegExp>
  /** Indexes of the terms that are neither numbers nor words of asking. */
  readonly subject: ReadonlyArray<number>
  /** Indexes of the terms that an answer or its context must have: the verb, or what is counted. */
  readonly required: ReadonlyArray<number>
  /** True if it asks who does something. */
  readonly asksWho: boolean
  /** True if it asks how something is done. */
  readonly asksHow: boolean
  /** Indexes of the terms for a measure: how *wide*, how much it *weighs*. */
  readonly measure: ReadonlyArray<number>
  /** True if a unit (kg, metres) implies the measure. */
  readonly unitImpliesMeasure: boolean
  /** True for a yes-no question, or one of no known kind: a statement with all its words answers it. */
  readonly isYesNo: boolean
  /** True if it asks when something was made. */
  readonly asksWhenMade: boolean
  /** Matches a number of what is counted: “1800 machines”, “number of jobs”. */
  readonly counts: RegExp | undefined
  /** Indexes of the terms for the kind of thing: “which *university*”. Its passage usually has the word. */
  readonly sought: ReadonlyArray<number>
  /** Indexes of the terms that are neither names nor measures: what is asked about the names. */
  readonly property: ReadonlyArray<number>
  /** Indexes of the words for what is asked for (“*battery life*”) and of the verb, if the word order shows them. */
  readonly focus: ReadonlyArray<number>
  readonly predicate: ReadonlyArray<number>
  /** Indexes of the verb in a question of who or when. */
  readonly verb: ReadonlyArray<number>
  /** Patterns of its years. A passage without one does not answer it. */
  readonly years: ReadonlyArray<RegExp>
  /** True if a sentence that names only other years does not answer it either. */
  readonly limitedToYears: boolean
  /** Its numbered things: meeting 17 does not answer a question about meeting 41. */
  readonly numbered: ReadonlyArray<NumberedThing>
  /** Indexes of names and identifiers. In a title they count for everything below it. */
  readonly called: ReadonlyArray<number>
  /** True if most of its weight is CJK. */
  readonly cjk: boolean
}

const termWeight = ({ idf, key, kind }: Term): number => {
  if (kind === "word") return asking.has(key) ? idf * ASKING_WEIGHT : idf
  if (askingCharacters.test(key)) return 0
  return kind === "pair" ? idf : idf * CHARACTER_WEIGHT
}

/** True for a number, or a part of one: `4.80` is two terms. */
export const isNumber = ({ key }: Term): boolean => /^\d+$/.test(key)

const countPattern = (word: string | undefined): RegExp | undefined => {
  if (word === undefined) return undefined
  const stem = word.toLowerCase().replace(/(?:ies|es|s|y)$/, "")
  const number = `(?:\\d[\\d.,]{0,20}|${NUMBER_WORDS.join("|")})`
  return new RegExp(
    `\\b${number}\\s+(?:[\\p{L}-]+\\s+){0,2}${stem}|\\bnumber of (?:\\p{L}+\\s+)?${stem}`,
    "iu"
  )
}

export const parseQuestion = (text: string): Question => {
  const all = [...new Set(tokenize(text))].filter(({ stop }) => !stop)
  const attribute = tokenize(ATTRIBUTE.exec(text)?.[1] ?? "")
  const amount = AMOUNT.exec(text)
  const measured = tokenize([MEASURE.exec(text)?.[1], amount?.[1], amount?.[2]].join(" "))
  const inGerman = isGerman(text)
  const languageWeights = inGerman ? germanWeights(text) : undefined
  const where = tokenize([...text.matchAll(PLACE)].map(([, word]) => word).join(" "))
  const weighed = all
    .map((term) => ({
      term,
      weight:
        termWeight(term) *
        (languageWeights?.get(term) ?? 1) *
        (attribute.includes(term) ? ATTRIBUTE_WEIGHT : 1) *
        (where.includes(term) || measured.includes(term) ? ASKING_WEIGHT : 1)
    }))
    .filter(({ weight }) => weight > 0)
  const sum = (cjk: boolean) =>
    weighed.reduce((total, { term, weight }) => total + ((term.kind !== "word") === cjk ? weight : 0), 0)
  const indexesOf = (name: string): ReadonlyArray<number> => {
    const own = new Set(tokenize(name))
    return [...weighed.keys()].filter((i) => {
      const term = weighed[i]?.term
      return term?.kind === "word" && own.has(term) && !isNumber(term)
    })
  }
  // German nouns are capitalized.
  const capitalized = inGerman ? [] : [...text.matchAll(NAME)]
  const names = capitalized.map(([name]) => indexesOf(name)).filter((name) => name.length > 0)
  const subject = [...weighed.keys()].filter((i) => {
    const term = weighed[i]?.term
    return term !== undefined && !isNumber(term) && !asking.has(term.key)
  })
  const said = (pattern: RegExp, unsaid: ReadonlySet<string> = new Set()): ReadonlyArray<number> => {
    const word = pattern.exec(text)?.[1]?.toLowerCase()
    return word === undefined || unsaid.has(word) || asking.has(word) ? [] : indexesOf(word)
  }
  const measure = [...said(MEASURE), ...indexesOf([amount?.[1], amount?.[2]].join(" "))]
  const predicate = indexesOf(predicateWord(text) ?? "").filter((i) => subject.includes(i))
  const done = [...said(DOING), ...said(DONE)]
  const numbered = numberedThingsIn(text)
  return {
    text,
    asksWho: DOING.test(text),
    asksWhenMade: MADE.test(text),
    asksHow: MANNER.test(text),
    isYesNo: WHETHER.test(text) || !ASKS_FOR.test(text),
    required: [...done, ...said(COUNTED, TIMES)],
    counts: countPattern(COUNTED.exec(text)?.[1]),
    sought: said(ONE_OF, IMPLIED_WORDS),
    focus: indexesOf(focusWords(text)).filter((i) => subject.includes(i)),
    predicate,
    verb: WHEN_DOES.test(text) ? predicate : done,
    property: subject.filter((i) => !names.flat().includes(i) && !measure.includes(i)),
    years: [...new Set(text.match(YEAR))].map((year) => new RegExp(`(?<!\\d)${year}(?!\\d)`)),
    measure,
    unitImpliesMeasure: amount !== null || UNITED.test(text),
    limitedToYears: !RELATIVE_TO_YEAR.test(text),
    numbered,
    called: [
      ...names.flat(),
      ...numbered.flatMap(({ noun }) => indexesOf(noun)),
      ...[...text.matchAll(IDENTIFIED)].flatMap(([noun]) => indexesOf(noun)),
      ...[...weighed.keys()].filter((i) => /\d/.test(weighed[i]?.term.key ?? ""))
    ],
    words: distinctWords(text),
    names,
    terms: weighed.map(({ term }) => term),
    weights: weighed.map(({ weight }) => weight),
    numbers: all.filter(isNumber),
    figures: [...new Set(text.toLowerCase().match(FIGURE))].map((figure) => {
      const word = NUMBER_WORDS.indexOf(figure)
      const digits = word < 0 ? figure : String(word + 2)
      const written = NUMBER_WORDS[Number(digits) - 2]
      const alone = `(?<![\\d.,±])${digits.replaceAll(".", "\\.")}(?!\\d|[.,]\\d)`
      return new RegExp(written === undefined ? alone : `${alone}|\\b${written}\\b`, "i")
    }),
    subject,
    cjk: sum(true) > sum(false)
  }
}
