/**
 * Learns the weights in `packages/embedded/src/reader/ReaderWeights.ts`: which sentence answers a question, or that none does.
 *
 * ```sh
 * node --conditions=@sluice/source scripts/reader/learn.ts FILE… [--add FEATURE] [--check FIFTH]
 * ```
 *
 * FILEs are of `collect.ts` and `made.ts`. A network of one hidden layer, beside which each feature also has a weight in the
 * score: the sentences of a question and “none” share the probability (softmax). An answer's passage or sentence is also taken out, so that
 * what is near is refused. `--check` learns without one of the
 * fifths 0 to 4, measures on it, and writes nothing. The same files give the same weights. `--add` learns the weights of one
 * feature and keeps all others: learnt anew from such files, in another order, .70 of the English keyword questions of strangers are
 * answered rightly in place of .79, without any change of the code.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { weightedSentences } from "../../packages/embedded/src/reader/candidates.ts"
import { askedQuestion } from "../../packages/embedded/src/reader/AskedQuestion.ts"
import { WEIGHT_UNIT } from "../../packages/embedded/src/reader/rankCandidates.ts"
import { readerWeights } from "../../packages/embedded/src/reader/ReaderWeights.ts"
import { isStopWord } from "../../packages/embedded/src/text/StopWords.ts"
import { limitVocabulary } from "../../packages/embedded/src/text/Term.ts"
import { splitSentences, withoutFunctionWords } from "@sluice/core/text"
import { flag } from "../flags.ts"
import { readJsonLines } from "../jsonLines.ts"
import type { Example } from "./Example.ts"
import { hasAnswer, hasWords, isGold } from "./Judge.ts"
import { plainExamples } from "./plainExamples.ts"

const HIDDEN = 32
const ROUNDS = 18
/** With one feature: few questions have it. */
const ROUNDS_OF_ONE = 400
/** Questions of one step. */
const BATCH = 256
const RATE = 0.005
/** Steps in which the rate rises. */
const WARM = 50
const DECAY = 3e-4
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
  pinned: { counts: 14, each: 1 },
  plain: { counts: 6, each: 1 },
  starters: { counts: 12, each: 1 },
  behaviours: { counts: 6, each: 1 }
}
/** A question about a table that compares or counts rows is not answered by one. */
const COMPARES =
  /\b(?:first|last|next|previous|before|after|below|above|most|least|more|less|fewer|than|other|another|besides|top|bottom|\w+est|how many|total|difference|same|both|only|prior|following|either|consecutive|number of|or)\b/i
/** Sets whose questions are learnt only as they are. */
const OURS = new Set(["pinned", "made", "plain", "starters", "behaviours"])

const fifth = flag("--check")
const check = fifth !== ""
const added = flag("--add")
const options = process.argv.findIndex((one) => one.startsWith("--"))
const files = process.argv.slice(2, options < 0 ? undefined : options)

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

/** As few as are that sure together, at most three: see `readSentences`. */
const chooseSure = <A extends { readonly probability: number }>(ranked: ReadonlyArray<A>, sure: number) => {
  const chosen: Array<A> = []
  let sum = 0
  for (const one of ranked) {
    if (sum >= sure || chosen.length === 3 || one.probability < 0.05) break
    sum += one.probability
    chosen.push(one)
  }
  return sum < sure ? [] : chosen
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

/** The sentence that answers, by its passage. */
const goldSentence = (example: Example, passages: Example["passages"]) => {
  for (const passage of passages)
    for (const sentence of splitSentences(passage))
      if (isGold(example, passage, sentence.start, sentence.end)) return { passage, sentence }
  return undefined
}

/** What a user types who writes keywords. */
const keywords = (question: string): string =>
  withoutFunctionWords(question)
    .replace(/什么|哪[些个里位年]?|谁|多少|几|吗|如何|怎[么样]|为何|何[时地人]/gu, " ")
    .split(/[\s?？¿]+/)
    .filter((word) => !isStopWord(word.toLowerCase()))
    .join(" ")
    .trim()

/**
 * A question as it is; without the passage that answers; without the sentence that answers; with little but that sentence;
 * and in keywords. `at` decides which.
 */
const variants = (example: Example, at: number, counts: number): ReadonlyArray<Group> => {
  const passages = example.passages.slice(0, PASSAGES)
  const all = [groupOf(example, passages, counts)]
  if (!hasAnswer(example) || OURS.has(example.set)) return all
  const others = example.passages.filter((passage) => !isGold(example, passage)).slice(0, PASSAGES)
  if ((at >>> 8) % 2 === 0 && others.length > 0) all.push(groupOf(example, others, counts))
  const short = keywords(example.question)
  if ((at >>> 9) % 6 === 0 && short !== "")
    all.push(groupOf({ ...example, question: short }, passages, counts))
  const found = goldSentence(example, passages)
  if (found === undefined || found.sentence.kind === "row") return all
  const { text } = found.passage
  const { end, start } = found.sentence
  if ((at >>> 10) % 4 === 0) {
    const rest = `${text.slice(0, start)}${text.slice(end)}`
    const nothing: Example = { ...example, gold: { path: "", starts: [], texts: [] } }
    if (rest.trim() !== "" && !hasWords(example, rest))
      all.push(
        groupOf(
          nothing,
          passages.map((one) => (one === found.passage ? { ...one, text: rest } : one)),
          counts
        )
      )
  }
  if ((at >>> 12) % 4 === 0) {
    const sentences = splitSentences(found.passage)
    const i = sentences.findIndex((one) => one.start === start)
    const from = sentences[Math.max(0, i - ((at >>> 14) % 2))]!.start
    const to = sentences[Math.min(sentences.length - 1, i + ((at >>> 15) % 2))]!.end
    const little = { ...found.passage, start: found.passage.start + from, text: text.slice(from, to) }
    all.push(groupOf(example, [little], counts))
  }
  return all
}

const examples = [
  ...plainExamples("plain", "questions.jsonl"),
  ...plainExamples("behaviours", "behaviours.jsonl"),
  ...files.flatMap((file) => readJsonLines<Example>(file))
]
const groups = examples.flatMap((example): ReadonlyArray<Group> => {
  const set = SETS[example.set]
  const at = hash(`${example.set} ${example.language} ${example.id}`)
  if (set === undefined || (example.set === "tables" && COMPARES.test(example.question))) return []
  return at % (hasAnswer(example) ? set.each : (set.none ?? set.each)) === 0
    ? variants(example, at, set.counts)
    : []
})
const isApart = ({ example }: Group): boolean => check && hash(example.question) % 5 === Number(fifth)
const learnt = groups.filter(
  (group) =>
    !isApart(group) &&
    group.candidates.some(({ features }) => added === "" || (features.get(added) ?? 0) !== 0)
)

const seen = new Map<string, number>()
for (const { candidates } of learnt)
  for (const { features } of candidates)
    for (const name of features.keys()) seen.set(name, (seen.get(name) ?? 0) + 1)
const [knownNames = [], ...knownUnits] = readerWeights
  .trim()
  .split("\n")
  .map((line) => line.split(" "))
const names =
  added === ""
    ? [...seen].flatMap(([name, count]) => (count >= LEAST ? [name] : [])).toSorted()
    : [...knownNames.filter((name) => name !== "BIAS" && name !== added), added]
const indexes = new Map(names.map((name, i) => [name, i]))

/** The candidates that count, in rows: where each begins, the features that it has and their values. */
const rows = learnt.flatMap(({ candidates }) => candidates.filter(({ answers }) => answers !== undefined))
const sizes = rows.map(({ features }) => [...features.keys()].filter((name) => indexes.has(name)).length)
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

/** A linear congruential generator. */
let seed = 20_261_124
const random = (): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}
const normal = (): number => Math.sqrt(-2 * Math.log(random() || 1e-9)) * Math.cos(2 * Math.PI * random())

/** For each feature its weights in the hidden units and in the score; then the biases; then the weights of the units. */
const WIDTH = HIDDEN + 1
const BIAS = names.length * WIDTH
const OUTPUT = BIAS + WIDTH
const net = new Float64Array(OUTPUT + HIDDEN)
for (let i = 0; i < BIAS; i++) if (i % WIDTH !== HIDDEN) net[i] = normal() / Math.sqrt(names.length)
for (let i = OUTPUT; i < net.length; i++) net[i] = (0.3 * normal()) / Math.sqrt(HIDDEN)
net[BIAS + HIDDEN] = -2
const isKept = (i: number): boolean => added !== "" && Math.floor(i / WIDTH) !== indexes.get(added)
if (added !== "") {
  for (const [at, name] of [...names, "BIAS"].entries()) {
    const column = knownNames.indexOf(name)
    for (let unit = 0; unit < WIDTH; unit++)
      net[at * WIDTH + unit] =
        (column < 0 ? 0 : Number(knownUnits[unit]![column])) * WEIGHT_UNIT * (scale[at] ?? 1)
  }
  knownUnits.at(-1)!.forEach((weight, i) => (net[OUTPUT + i] = Number(weight) * WEIGHT_UNIT))
}

/** The sums of the units for a row, before they are cut at 0, and in the last place the score. */
const forward = (row: number, sums: Float64Array): void => {
  for (let i = 0; i < WIDTH; i++) sums[i] = net[BIAS + i]!
  for (let at = begins[row]!; at < begins[row + 1]!; at++) {
    const from = columns[at]! * WIDTH
    const value = values[at]!
    for (let i = 0; i < WIDTH; i++) sums[i]! += value * net[from + i]!
  }
  for (let i = 0; i < HIDDEN; i++) if (sums[i]! > 0) sums[HIDDEN]! += sums[i]! * net[OUTPUT + i]!
}

/** Adds to the gradient what a row's score adds to it. */
const backward = (row: number, sums: Float64Array, step: number, gradient: Float64Array): void => {
  const down = new Float64Array(WIDTH)
  down[HIDDEN] = step
  for (let i = 0; i < HIDDEN; i++) {
    if (sums[i]! <= 0) continue
    down[i] = step * net[OUTPUT + i]!
    gradient[OUTPUT + i]! += step * sums[i]!
  }
  for (let i = 0; i < WIDTH; i++) gradient[BIAS + i]! += down[i]!
  for (let at = begins[row]!; at < begins[row + 1]!; at++) {
    const from = columns[at]! * WIDTH
    for (let i = 0; i < WIDTH; i++) gradient[from + i]! += values[at]! * down[i]!
  }
}

const starts: Array<number> = [0]
for (const { candidates } of learnt)
  starts.push(starts.at(-1)! + candidates.filter(({ answers }) => answers !== undefined).length)
const right = rows.map(({ answers }) => answers === true)
const average = learnt.reduce((sum, { counts }) => sum + counts, 0) / learnt.length

/** Adds the gradient of one question. Returns its loss. */
const learnFrom = (question: number, share: number, gradient: Float64Array): number => {
  const [from, to] = [starts[question]!, starts[question + 1]!]
  const sums = Array.from({ length: to - from }, () => new Float64Array(WIDTH))
  const odds = sums.map((of, i) => {
    forward(from + i, of)
    return Math.exp(Math.min(of[HIDDEN]!, 50))
  })
  const all = odds.reduce((sum, one) => sum + one, 1)
  const good = odds.reduce((sum, one, i) => sum + (right[from + i]! ? one : 0), 0)
  const weight = (learnt[question]!.counts / average) * share
  sums.forEach((of, i) => {
    const wanted = good > 0 && right[from + i]! ? odds[i]! / good : 0
    backward(from + i, of, (odds[i]! / all - wanted) * weight, gradient)
  })
  return -weight * Math.log(Math.max(1e-12, (good > 0 ? good : 1) / all))
}

const [mean, square] = [new Float64Array(net.length), new Float64Array(net.length)]
const order = learnt.map((_, i) => i)
const rounds = added === "" ? ROUNDS : ROUNDS_OF_ONE
const steps = rounds * Math.ceil(order.length / BATCH)
for (let round = 1, step = 0; round <= rounds; round++) {
  for (let i = order.length - 1; i > 0; i--) {
    const other = Math.floor(random() * (i + 1))
    ;[order[i], order[other]] = [order[other]!, order[i]!]
  }
  let loss = 0
  for (let from = 0; from < order.length; from += BATCH) {
    const batch = order.slice(from, from + BATCH)
    const gradient = Float64Array.from(net, (weight, i) => (i < BIAS || i >= OUTPUT ? DECAY * weight : 0))
    for (const question of batch) loss += learnFrom(question, 1 / batch.length, gradient) * batch.length
    // Adam, with a rate that rises, then falls.
    step++
    const rate = RATE * Math.min(1, step / WARM) * (1 - (0.95 * step) / steps)
    gradient.forEach((value, i) => {
      if (isKept(i)) return
      mean[i] = 0.9 * mean[i]! + 0.1 * value
      square[i] = 0.999 * square[i]! + 0.001 * value * value
      net[i]! -=
        (rate * (mean[i]! / (1 - 0.9 ** step))) / (Math.sqrt(square[i]! / (1 - 0.999 ** step)) + 1e-8)
    })
  }
  console.log(`round ${round}: loss ${(loss / order.length).toFixed(4)}`)
}

/** In lines: the names of the features, for each unit and last for the score their weights, and the weights of the units. */
const integer = (weight: number): string => `${Math.round(weight / WEIGHT_UNIT) || 0}`
const lines = [
  [...names, "BIAS"].join(" "),
  ...Array.from({ length: WIDTH }, (_, unit) =>
    [...names.map((_, i) => integer(net[i * WIDTH + unit]! / scale[i]!)), integer(net[BIAS + unit]!)].join(
      " "
    )
  ),
  Array.from(net.slice(OUTPUT), integer).join(" ")
]
console.log(`${learnt.length} questions, ${rows.length} sentences, ${names.length} features`)

if (check) {
  const scoreOf = (features: ReadonlyMap<string, number>): number => {
    const sums = net.slice(BIAS, OUTPUT)
    for (const [name, value] of features) {
      const at = indexes.get(name)
      if (at !== undefined) sums.forEach((_, i) => (sums[i]! += (value / scale[at]!) * net[at * WIDTH + i]!))
    }
    return sums.reduce((sum, one, i) => sum + (i < HIDDEN ? Math.max(0, one) * net[OUTPUT + i]! : one), 0)
  }
  const apart = groups.filter(isApart)
  for (const [set, some] of [["all", apart] as const, ...Map.groupBy(apart, ({ example }) => example.set)]) {
    const judged = some.map(({ answerable, candidates }) => {
      const odds = candidates.map(({ features }) => Math.exp(Math.min(scoreOf(features), 50)))
      const all = odds.reduce((sum, one) => sum + one, 1)
      const ranked = candidates
        .map(({ answers }, i) => ({ answers, probability: odds[i]! / all }))
        .toSorted((a, b) => b.probability - a.probability)
      return { answerable, ranked }
    })
    const asked = judged.filter(({ answerable }) => answerable).length
    const line = [0.6, 0.65, 0.7, 0.75, 0.8, 0.85].map((sure) => {
      const shown = judged.flatMap(({ answerable, ranked }) => {
        const chosen = chooseSure(ranked, sure)
        return chosen.length === 0 ? [] : [answerable && chosen.some(({ answers }) => answers !== false)]
      })
      const right = shown.filter((one) => one).length
      return `≥ ${sure}: wrong ${shown.length - right} of ${shown.length}, right ${(right / (asked || 1)).toFixed(3)}`
    })
    console.log(`${set}: ${judged.length} questions; ${line.join("; ")}`)
  }
} else {
  writeFileSync(
    join(import.meta.dirname, "../../packages/embedded/src/reader/ReaderWeights.ts"),
    `/**
 * The weights of the reader's features, in hundredths: their names, a line for each hidden unit and one
 * for the score itself, and the weights of the units.
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
