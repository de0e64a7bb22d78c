/**
 * Makes labelled questions about small tables, lists, questions and answers, and facts in prose, in five languages: rows and
 * items that answer, those beside them, and facts that are not stated. All words are our own.
 *
 * ```sh
 * node --conditions=@sluice/source scripts/reader/made.ts --to FILE
 * ```
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { flag } from "../flags.ts"
import { toJsonLines } from "../jsonLines.ts"
import type { Example, RetrievedPassage } from "./Example.ts"

/** The words of a language. */
interface Language {
  readonly things: ReadonlyArray<string>
  readonly places: ReadonlyArray<string>
  readonly people: ReadonlyArray<string>
  /** The name of an attribute, a value with `#` for a number, and questions with `*` for the thing. */
  readonly attributes: ReadonlyArray<
    readonly [name: string, value: string, ...questions: ReadonlyArray<string>]
  >
  /** Facts in prose: what is asked, the sentence (`*` the thing, `#` the answer), and questions. */
  readonly facts: ReadonlyArray<
    readonly [
      kind: "place" | "person" | "year" | "number" | "reason" | "definition",
      sentence: string,
      ...questions: ReadonlyArray<string>
    ]
  >
  readonly reasons: ReadonlyArray<string>
  readonly definitions: ReadonlyArray<string>
  readonly filler: ReadonlyArray<string>
  readonly heading: string
  readonly name: string
  /** A pronoun for any thing, at the beginning of a sentence. */
  readonly it: string
}

const LANGUAGES: Readonly<Record<string, Language>> = JSON.parse(
  readFileSync(join(import.meta.dirname, "madeWords.json"), "utf8")
)

/** A linear congruential generator: the file is the same on every machine. */
let state = 20
const below = (n: number): number =>
  ((state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296) % 65_521) % n
const pick = <A>(from: ReadonlyArray<A>): A => from[below(from.length)]!
const some = <A>(from: ReadonlyArray<A>, count: number): ReadonlyArray<A> => {
  const rest = [...from]
  return Array.from({ length: count }, () => rest.splice(below(rest.length), 1)[0]!)
}
const first = <A>([one]: ReadonlyArray<A>): A => one!
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
const PASSAGES = 3

/** The facts, and what each answers. */
interface Made {
  readonly text: string
  /** By thing and attribute or fact: what the line or row contains. */
  readonly answers: ReadonlyMap<string, string>
  readonly format: string
  readonly delimiter?: string
}

const key = (thing: string, of: number): string => `${thing}|${of}`

const table = (
  { attributes, name }: Language,
  things: ReadonlyArray<string>,
  columns: ReadonlyArray<number>
): Made => {
  const answers = new Map<string, string>()
  const style = pick(["table", "csv", "list", "items"] as const)
  const value = (thing: string, column: number): string => {
    const found = attributes[column]![1].replace("#", `${2 + below(97)}`)
    answers.set(key(thing, column), found)
    return found
  }
  const named = (column: number): string => attributes[column]![0]
  if (style === "table" || style === "csv") {
    const rows = things.map((thing) => [thing, ...columns.map((column) => value(thing, column))])
    const head = [name, ...columns.map(named)]
    return style === "csv"
      ? {
          text: [head, ...rows].map((row) => row.join(",")).join("\n"),
          answers,
          format: "csv",
          delimiter: ","
        }
      : {
          text: [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n"),
          answers,
          format: "markdown"
        }
  }
  const text =
    style === "list"
      ? things
          .map(
            (thing) =>
              `- ${capital(thing)}: ${columns.map((column) => `${named(column)} ${value(thing, column)}`).join(", ")}`
          )
          .join("\n")
      : things
          .map(
            (thing) =>
              `## ${capital(thing)}\n\n${columns.map((column) => `- ${capital(named(column))}: ${value(thing, column)}`).join("\n")}`
          )
          .join("\n\n")
  return { text, answers, format: "markdown" }
}

/** What many sections begin with. */
const isDefinition = ([kind]: Language["facts"][number]): boolean => kind === "definition"

const prose = (language: Language, things: ReadonlyArray<string>, defines = false): Made => {
  const answers = new Map<string, string>()
  const paragraphs = things.map((thing) => {
    const others = some([...language.facts.keys()], 2 + below(3))
    const facts = defines ? [...new Set([language.facts.findIndex(isDefinition), ...others])] : others
    const sentences = facts.map((fact, at) => {
      const [kind, sentence] = language.facts[fact]!
      const answer = factOf(language, kind)
      // A later sentence may say “it”.
      const said =
        at > 0 && sentence.startsWith("*") && below(3) === 0
          ? language.it
          : sentence.startsWith("The *") && at > 0 && below(3) === 0
            ? language.it
            : undefined
      const written = capital(
        (said === undefined ? sentence.replace("*", thing) : sentence.replace(/^(?:The )?\*/, said)).replace(
          "#",
          answer
        )
      )
      answers.set(key(thing, fact), written)
      return written
    })
    return some(
      [...sentences, ...some(language.filler, 2).map((one) => capital(one.replace("*", thing)))],
      sentences.length + 2
    ).join(language.name === "名称" ? "" : " ")
  })
  return { text: paragraphs.join("\n\n"), answers, format: "markdown" }
}

/** Questions and answers. */
const faq = (language: Language, things: ReadonlyArray<string>): Made => {
  const answers = new Map<string, string>()
  const style = pick(["**", "### ", "Q: "] as const)
  const pairs = things.flatMap((thing) =>
    some([...language.facts.keys()], 2).map((fact) => {
      const [kind, sentence, ...questions] = language.facts[fact]!
      const answer = factOf(language, kind)
      const short = kind !== "reason" && below(2) === 0
      const written = short
        ? `${capital(answer)}${language.name === "名称" ? "。" : "."}`
        : capital(sentence.replace("*", thing).replace("#", answer))
      answers.set(key(thing, fact), written)
      const question = pick(questions).replace("*", thing)
      if (style === "Q: ") return `Q: ${question}\nA: ${written}`
      return style === "**" ? `**${question}**\n\n${written}` : `### ${question}\n\n${written}`
    })
  )
  return { text: pairs.join("\n\n"), answers, format: "markdown" }
}

const factOf = (language: Language, kind: Language["facts"][number][0]): string =>
  kind === "place"
    ? pick(language.places)
    : kind === "person"
      ? pick(language.people)
      : kind === "reason"
        ? pick(language.reasons)
        : kind === "definition"
          ? pick(language.definitions)
          : kind === "year"
            ? `${1850 + below(170)}`
            : `${2 + below(97)}`

/** What is known of one thing, which only the title names. */
const sheet = (language: Language, [thing = ""]: ReadonlyArray<string>): Made => {
  const answers = new Map<string, string>()
  const style = pick(["- ", "| ", ""] as const)
  const lines = some([...language.attributes.keys()], 4).map((column) => {
    const [name, value] = language.attributes[column]!
    const written = value.replace("#", `${2 + below(97)}`)
    answers.set(key(thing, column), written)
    return style === "| " ? `| ${capital(name)} | ${written} |` : `${style}${capital(name)}: ${written}`
  })
  return { text: lines.join(style === "" ? "\n\n" : "\n"), answers, format: "markdown" }
}

const examples: Array<Example> = []
for (const [code, language] of Object.entries(LANGUAGES)) {
  for (let i = 0; i < 275; i++) {
    const form = (["table", "prose", "faq", "sheet", "section"] as const)[i % 5]!
    const isTitled = form === "sheet" || form === "section"
    const isTable = form === "table" || form === "sheet"
    const columns = some([...language.attributes.keys()], 2 + below(3))
    const lists = Array.from({ length: i % 3 === 0 ? 1 : PASSAGES }, () =>
      some(language.things, isTitled ? 1 : 2 + below(4))
    )
    const things = lists[0]!
    const made = lists.map((of) =>
      form === "table"
        ? table(language, of, columns)
        : form === "prose" || form === "section"
          ? prose(language, of, form === "section" && below(2) === 0)
          : form === "faq"
            ? faq(language, of)
            : sheet(language, of)
    )
    const answers = made[0]!.answers
    const all = isTable ? language.attributes : language.facts
    for (let n = 0; n < 3; n++) {
      const thing = n === 2 && !isTitled ? pick(language.things) : pick(things)
      const of =
        n === 0
          ? ((form === "section" ? first : pick)(
              [...answers.keys()].filter((one) => one.startsWith(`${thing}|`))
            ).split("|")[1] ?? "0")
          : `${below(all.length)}`
      const question = pick(all[Number(of)]!.slice(2)).replace("*", thing)
      const answer = answers.get(`${thing}|${of}`)
      // Other passages may state it too.
      if (made.slice(1).some((one) => one.answers.has(`${thing}|${of}`))) continue
      const passages = made.map(({ delimiter, format, text }, at): RetrievedPassage => ({
        title: isTitled
          ? `${language.heading} > ${capital(lists[at]![0]!)}`
          : `${language.heading} ${at + 1}`,
        text,
        format,
        ...(delimiter !== undefined && { delimiter }),
        path: `${at}`,
        start: 0
      }))
      const ordered = n === 1 ? passages.toReversed() : passages
      const line =
        answer === undefined
          ? -1
          : form === "sheet"
            ? made[0]!.text.indexOf(answer)
            : rowOf(made[0]!, thing, answer)
      examples.push({
        set: "made",
        language: code,
        id: `${code}${i}.${n}`,
        kind: line < 0 ? "none" : isTable ? "table" : "keyword",
        question,
        gold: { path: "0", starts: line < 0 ? [] : [line], texts: line < 0 ? [] : [answer!] },
        passages: ordered
      })
    }
  }
}

/** Where the answer stands: the value in its row, item or section, or the sentence. */
function rowOf({ text }: Made, thing: string, answer: string): number {
  const from =
    text.includes(answer) && answer.length > 12
      ? 0
      : Math.max(0, text.toLowerCase().indexOf(thing.toLowerCase()))
  return text.indexOf(answer, from)
}

writeFileSync(flag("--to", "made.jsonl"), toJsonLines(examples))
console.log(
  examples.length,
  "questions,",
  examples.filter(({ kind }) => kind === "none").length,
  "without an answer"
)
