/**
 * Writes `test/qa/support-pairs.jsonl`: sentences with quotes, labelled whether the quotes support them.
 *
 * ```sh
 * node --conditions=@sluice/source scripts/write-verifier-pairs.ts > test/qa/support-pairs.jsonl
 * ```
 *
 * The quotes are sentences of the sample handbook. `written` pairs are `test/qa/support-written.jsonl`: one right sentence in
 * other words and one wrong sentence in the same words for each quote. The others are made by a rule, which `kind` names. All
 * of it is part of this repository and has its licence.
 */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"

interface Pair {
  readonly kind: string
  readonly supported: boolean
  readonly sentence: string
  readonly quotes: ReadonlyArray<string>
}

const HANDBOOK = "apps/demo-server/samples/handbook"

const hash = (text: string) =>
  Number.parseInt(createHash("sha256").update(text).digest("hex").slice(0, 8), 16)
const pick = <A>(list: ReadonlyArray<A>, text: string): A => list[hash(text) % list.length]!

/** The sentences of the handbook's paragraphs and items, in order. */
const sentences = readdirSync(HANDBOOK)
  .filter((name) => /^0[1-7]/.test(name))
  .flatMap((name) => readFileSync(`${HANDBOOK}/${name}`, "utf8").split("\n"))
  .filter((line) => line !== "" && !/^[#|]/.test(line))
  .flatMap((line) =>
    line
      .replace(/^(?:-|\d+\.) /, "")
      .replaceAll("*", "")
      .split(/(?<=[.!?]) (?=[A-Z])/)
  )
  .filter((sentence) => sentence.split(" ").length > 5)

const SMALL = "zero one two three four five six seven eight nine ten eleven twelve".split(" ")
const NAMES = ["Thornbury", "Askew", "Lindqvist", "Petronella", "Gustav", "Bollard", "Saltmere", "Harrow"]
const MONTHS = ["January", "February", "March", "April", "May", "June", "September", "October", "December"]
const DAYS = ["Monday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
const UNITS = ["minutes", "hours", "seconds", "metres", "cm", "litres", "crowns", "grams", "weeks", "months"]
/** The second word of a pair replaces the first one, and the other way round. */
const OPPOSITES = new Map(
  (
    "up down,upper lower,before after,open closed,opened closed,more less,longest shortest,highest lowest,first last," +
    "behind before,always never,inside outside,free paid,full empty,start stop,starts stops,north south,green red," +
    "both neither,together apart,thicker thinner,left right,above below,early late,brass steel,everybody nobody"
  )
    .split(",")
    .map((pair) => pair.split(" ") as [string, string])
    .flatMap(([a, b]) => [[a, b] as const, [b, a] as const])
)

const other = (list: ReadonlyArray<string>) => (found: string) =>
  pick(
    list.filter((one) => one !== found),
    found
  )
const oneOf = (words: Iterable<string>) => new RegExp(`\\b(?:${[...words].join("|")})\\b`)

/** What a rule makes of a sentence; the sentence itself if the rule does not apply. */
const WRONG: Record<string, (sentence: string) => string> = {
  number: (sentence) =>
    sentence.replace(/\d+(?=[^\d]*$)/, (found) => String(Number(found) + 1 + (hash(sentence) % 9))),
  "number word": (sentence) =>
    sentence.replace(oneOf(SMALL.slice(2)), (found) => SMALL[SMALL.indexOf(found) + 1] ?? "fifteen"),
  unit: (sentence) => sentence.replace(oneOf(UNITS), other(UNITS)),
  name: (sentence) => sentence.replace(oneOf(NAMES), other(NAMES)),
  date: (sentence) => sentence.replace(oneOf(MONTHS), other(MONTHS)).replace(oneOf(DAYS), other(DAYS)),
  negation: (sentence) =>
    /\b(?:never|not|nobody)\b/i.test(sentence)
      ? sentence.replace(/ (?:never|not)\b/, "")
      : sentence.replace(/\b(is|are|was|may|must|has|will)\b/, "$1 not"),
  opposite: (sentence) => sentence.replace(oneOf(OPPOSITES.keys()), (found) => OPPOSITES.get(found)!)
}

const RIGHT: Record<string, (sentence: string) => string> = {
  "first clause": (sentence) => sentence.replace(/(?:[;:]|, (?:and|because|so that|which)) .*$/, "."),
  "number in digits": (sentence) =>
    sentence.replace(oneOf(SMALL.slice(2)), (found) => String(SMALL.indexOf(found))),
  "number in words": (sentence) =>
    sentence.replace(/(?<= )(?:[2-9]|1[0-2])(?= [a-z])/, (found) => SMALL[+found]!)
}

const made = (rules: typeof WRONG, supported: boolean) =>
  sentences.flatMap((quote): ReadonlyArray<Pair> =>
    Object.entries(rules).flatMap(([kind, rule]) => {
      const sentence = rule(quote)
      return sentence === quote ? [] : [{ kind, supported, sentence, quotes: [quote] }]
    })
  )

/** A sentence of the same section with the quote of another one. */
const misplaced = sentences.flatMap((sentence, i): ReadonlyArray<Pair> => {
  const quote = sentences[i + 2]
  return quote === undefined || i % 3 > 0
    ? []
    : [{ kind: "other quote", supported: false, sentence, quotes: [quote] }]
})

/** Two sentences as one, with both quotes. */
const joined = sentences.flatMap((first, i): ReadonlyArray<Pair> => {
  const second = sentences[i + 1]
  if (second === undefined || i % 3 > 0 || !first.endsWith(".")) return []
  const sentence = `${first.slice(0, -1)}, and ${second[0]!.toLowerCase()}${second.slice(1)}`
  return [{ kind: "two quotes", supported: true, sentence, quotes: [first, second] }]
})

const copied = sentences.map((sentence): Pair => ({
  kind: "verbatim",
  supported: true,
  sentence,
  quotes: [sentence]
}))

const written = readFileSync("test/qa/support-written.jsonl", "utf8")
  .trim()
  .split("\n")
  .flatMap((line): ReadonlyArray<Pair> => {
    const { quote, right, wrong } = JSON.parse(line)
    return [
      { kind: "written", supported: true, sentence: right, quotes: [quote] },
      { kind: "written", supported: false, sentence: wrong, quotes: [quote] }
    ]
  })

for (const pair of [
  ...written,
  ...copied,
  ...made(RIGHT, true),
  ...joined,
  ...made(WRONG, false),
  ...misplaced
]) {
  // All pairs of a quote are in the same half.
  console.log(
    JSON.stringify({ ...pair, heldOut: hash(`support ${pair.quotes[0]?.replaceAll("*", "")}`) % 2 === 0 })
  )
}
