/**
 * Learns the weights in `packages/embedded/src/reader/sure/ReaderWeights.ts`: which sentence answers a question, or that none does.
 *
 * ```sh
 * node --conditions=@sluice/source scripts/reader/learn.ts FILE… [--check]
 * ```
 *
 * FILEs are of `collect.ts` and `made.ts`. A multinomial logistic regression: the sentences of a question and “none” share the
 * probability. An answer's passage is also taken out, so that the nearest others are refused. `--check` learns from four
 * fifths, measures on the others, and writes nothing. The same files give the same weights.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { weightedSentences } from "../../packages/embedded/src/reader/sure/candidates.ts"
import { askedQuestion } from "../../packages/embedded/src/reader/sure/AskedQuestion.ts"
import { limitVocabulary } from "../../packages/embedded/src/text/Term.ts"
import type { Example } from "./Example.ts"
import { hasAnswer, hasWords, isGold } from "./Judge.ts"

const ROUNDS = 300
const RATE = 0.05
const DECAY = 2e-4
/** Candidates in which a feature must be to have a weight. */
const LEAST = 60
const PASSAGES = 3
/** How much a question counts, and of how many of a set one is taken. `none`: of those without an answer. */
const SETS: Readonly<
  Record<string, { readonly counts: number; readonly each: number; readonly none?: number }>
> = {
  xquad: { counts: 1, each: 3 },
  squad: { counts: 1, each: 2, none: 8 },
  piaf: { counts: 1, each: 2 },
  cmrc: { counts: 0.7, each: 2 },
  tables: { counts: 1, each: 1 },
  made: { counts: 1, each: 1 },
  pinned: { counts: 4, each: 1 },
  plain: { counts: 6, each: 1 },
  starters: { counts: 12, each: 1 }
}
/** Of the questions whose passage is taken out. */
const REMOVED_EACH = 2
const REMOVED_COUNTS = 1

const check = process.argv.includes("--check")
const files = process.argv.slice(2).filter((argument) => !argument.startsWith("--"))

const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  value ^= value >>> 15
  return Math.imul(value, 0x85ebca6b) >>> 0
}

interface Group {
  readonly example: Example
  readonly answerable: boolean
  readonly counts: number
  /** Of candidates: names of features and values, and whether it answers; undefined if it has the words elsewhere. */
  readonly candidates: ReadonlyArray<{
    readonly features: ReadonlyMap<string, number>
    readonly answers: boolean | undefined
  }>
}

const groupOf = (example: Example, passages: Example["passages"], counts: number): Group => {
  limitVocabulary()
  const candidates = weightedSentences(askedQuestion(example.question), passages).map(
    ({ features, passage, sentence }) => {
      const read = passages[passage]!
      const gold = isGold(example, read, sentence.start, sentence.end)
      return {
        features,
        answers: gold ? true : hasWords(example, sentence.named ?? sentence.text) ? undefined : false
      }
    }
  )
  return { example, counts, candidates, answerable: candidates.some(({ answers }) => answers === true) }
}

const groups = files.flatMap((file) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .flatMap((line): ReadonlyArray<Group> => {
      const example = JSON.parse(line) as Example
      const set = SETS[example.set]
      const at = hash(`${example.set} ${example.language} ${example.id}`)
      if (set === undefined || at % (hasAnswer(example) ? set.each : (set.none ?? set.each)) !== 0) return []
      const whole = groupOf(example, example.passages.slice(0, PASSAGES), set.counts)
      const others = example.passages.filter((passage) => !isGold(example, passage)).slice(0, PASSAGES)
      return hasAnswer(example) &&
        others.length > 0 &&
        (at >>> 8) % REMOVED_EACH === 0 &&
        example.set !== "pinned" &&
        example.set !== "made" &&
        example.set !== "plain" &&
        example.set !== "starters"
        ? [whole, groupOf(example, others, set.counts * REMOVED_COUNTS)]
        : [whole]
    })
)
const isApart = ({ example }: Group): boolean => check && hash(example.question) % 5 === 0
const learnt = groups.filter((group) => !isApart(group) && group.candidates.length > 0)

const seen = new Map<string, number>()
for (const { candidates } of learnt)
  for (const { features } of candidates)
    for (const name of features.keys()) seen.set(name, (seen.get(name) ?? 0) + 1)
const names = [...seen].flatMap(([name, count]) => (count >= LEAST ? [name] : [])).toSorted()
const indexes = new Map(names.map((name, i) => [name, i]))

/** The candidates that count, in rows: where each begins, the features that it has and their values. */
const rows = learnt.flatMap(({ candidates }) => candidates.filter(({ answers }) => answers !== undefined))
const sizes = rows.map(
  ({ features }) =>
    features
      .keys()
      .filter((name) => indexes.has(name))
      .toArray().length
)
const begins = new Int32Array(rows.length + 1)
sizes.forEach((size, i) => (begins[i + 1] = begins[i]! + size))
const columns = new Int32Array(begins.at(-1)!)
const values = new Float64Array(begins.at(-1)!)
const scale = new Float64Array(names.length)
rows.forEach(({ features }, i) => {
  let at = begins[i]!
  for (const [name, value] of features) {
    const column = indexes.get(name)
    if (column === undefined) continue
    columns[at] = column
    values[at++] = value
    scale[column]! += value * value
  }
})
// Each feature has the same size, so that the decay treats all alike.
scale.forEach((sum, i) => (scale[i] = Math.sqrt(sum / rows.length) + 1e-3))
values.forEach((value, i) => (values[i] = value / scale[columns[i]!]!))

const weights = new Float64Array(names.length + 1)
weights[names.length] = -2
const total = learnt.reduce((sum, { counts }) => sum + counts, 0)
const [mean, square] = [new Float64Array(weights.length), new Float64Array(weights.length)]
for (let round = 1; round <= ROUNDS; round++) {
  const gradient = Float64Array.from(weights, (weight, i) => (i < names.length ? DECAY * weight : 0))
  let row = 0
  let loss = 0
  for (const { answerable, candidates, counts } of learnt) {
    const counted = candidates.filter(({ answers }) => answers !== undefined)
    const odds = counted.map((_, i) => {
      let score = weights[names.length]!
      for (let at = begins[row + i]!; at < begins[row + i + 1]!; at++)
        score += weights[columns[at]!]! * values[at]!
      return Math.exp(Math.min(score, 50))
    })
    const all = odds.reduce((sum, one) => sum + one, 1)
    const right = odds.reduce((sum, one, i) => sum + (counted[i]!.answers === true ? one : 0), 0)
    loss -= (counts / total) * Math.log(Math.max(1e-12, (answerable ? right : 1) / all))
    counted.forEach(({ answers }, i) => {
      const wanted = answerable && answers === true ? odds[i]! / right : 0
      const step = ((odds[i]! / all - wanted) * counts) / total
      gradient[names.length]! += step
      for (let at = begins[row + i]!; at < begins[row + i + 1]!; at++)
        gradient[columns[at]!]! += step * values[at]!
    })
    row += counted.length
  }
  // Adam.
  gradient.forEach((value, i) => {
    mean[i] = 0.9 * mean[i]! + 0.1 * value
    square[i] = 0.999 * square[i]! + 0.001 * value * value
    weights[i]! -=
      (RATE * (mean[i]! / (1 - 0.9 ** round))) / (Math.sqrt(square[i]! / (1 - 0.999 ** round)) + 1e-8)
  })
  if (round % 50 === 0) console.log(`round ${round}: loss ${loss.toFixed(4)}`)
}

const found = new Map([
  ...names.map((name, i) => [name, weights[i]! / scale[i]!] as const),
  ["bias", weights[names.length]!] as const
])
console.log(`${learnt.length} questions, ${rows.length} sentences, ${found.size} weights`)

if (check) {
  const apart = groups.filter(isApart)
  for (const [set, some] of Map.groupBy(apart, ({ example }) => example.set)) {
    const judged = some.map(({ answerable, candidates }) => {
      const odds = candidates.map(({ features }) =>
        Math.exp(
          features
            .entries()
            .reduce((sum, [name, value]) => sum + value * (found.get(name) ?? 0), found.get("bias")!)
        )
      )
      const all = odds.reduce((sum, one) => sum + one, 1)
      const best = odds.indexOf(Math.max(...odds))
      return {
        answerable,
        sure: (odds[best] ?? 0) / all,
        right: candidates[best]?.answers !== false && answerable
      }
    })
    const asked = judged.filter(({ answerable }) => answerable)
    const line = [0.5, 0.7, 0.8, 0.9].map((sure) => {
      const shown = judged.filter((one) => one.sure >= sure)
      const right = shown.filter((one) => one.right).length
      return `≥ ${sure}: wrong ${(1 - right / (shown.length || 1)).toFixed(3)} of ${shown.length}, right ${(right / (asked.length || 1)).toFixed(3)}`
    })
    console.log(
      `${set}: first ${(asked.filter(({ right }) => right).length / (asked.length || 1)).toFixed(3)}; ${line.join("; ")}`
    )
  }
} else {
  const entries = [...found].map(([name, weight]) => `${name}=${Number(weight.toPrecision(3))}`)
  const lines: Array<string> = []
  for (const entry of entries) {
    const last = lines.at(-1)
    if (last === undefined || last.length + entry.length > 115) lines.push(entry)
    else lines[lines.length - 1] = `${last} ${entry}`
  }
  writeFileSync(
    join(import.meta.dirname, "../../packages/embedded/src/reader/sure/ReaderWeights.ts"),
    `/**
 * The weights of the reader's features: \`name=weight\`.
 *
 * Learnt by scripts/reader/learn.ts from questions of our own and from public sets, by their authors: XQuAD (google-deepmind),
 * a sample of SQuAD 2.0 (Rajpurkar and others), CMRC 2018 (Cui and others) and WikiTableQuestions (Pasupat and Liang), CC BY-SA 4.0;
 * PIAF (Etalab), MIT. See test/qa/strangers/README.md.
 */
export const readerWeights = \`
${lines.join("\n")}
\`
`
  )
}
