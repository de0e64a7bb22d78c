/**
 * Learns the weights in `packages/core/src/conversation/FollowUpWeights.ts`: a logistic regression that says whether a question
 * depends on the turns before it.
 *
 * ```sh
 * node --conditions=@sluice/source scripts/write-public-dialogues.ts --data DIALOGUES --examples FILE
 * node --conditions=@sluice/source scripts/learn-follow-ups.ts --examples FILE --data DIR [--check]
 * ```
 *
 * It learns from dialogues that are not kept apart: from follow-ups as asked, and from the same rewritten by people, after their
 * own and other turns. FILE has more dialogues of KdConv, CAsT and CANARD; DIR has `retrieval/cmrc2018` and `retrieval/cranfield`, whose
 * questions stand alone. `--check` learns from two thirds of the topics and measures on the others, three times.
 */
import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { ConversationTurn } from "@sluice/core/models"
import { followUpFeatures } from "../packages/core/src/conversation/FollowUpScore.ts"
import { flag } from "./flags.ts"
import { readJsonLines } from "./jsonLines.ts"
import { dialogues as publicDialogues, historyOf, type Turn } from "../test/qa/PublicDialogues.ts"

const root = join(import.meta.dirname, "..")

/** Follow-ups in which a word must be to have a weight. */
const LEAST = 4
const PARTS = 3
const ROUNDS = 40
const RATE = 0.2
/** Of the weights of words. The English examples are few, and of many topics. */
const DECAY = { en: 0.03, zh: 0.002 } as const
/** Of the weights of cues and counts, which are few. As much as of words lost a third of the follow-ups at the same error. */
const CUE_DECAY = 0.001
/** The score that decides: with it, no first question of the public dialogues is taken for a follow-up in the check, and .3 % of CMRC’s. */
const THRESHOLD = { en: 3.5, zh: 2.5 } as const
/** How much an example counts. Follow-ups of other documents than KdConv’s are rare; CANARD’s are many and alike. */
const COUNTS = { public: 1, written: 2, kdconv: 0.5, cast: 0.5, canard: 0.1, made: 0.3, other: 0.3 }

interface Example {
  readonly question: string
  readonly history: ReadonlyArray<ConversationTurn>
  readonly depends: boolean
  readonly count: number
  readonly source: string
  readonly part: number
}

const hash = (text: string): number =>
  Number.parseInt(createHash("sha256").update(text).digest("hex").slice(0, 8), 16)

interface Source {
  readonly source: keyof typeof COUNTS
  readonly topic: string
  readonly turns: ReadonlyArray<Turn>
}

const sources: ReadonlyArray<Source> = [
  ...publicDialogues
    .filter(({ heldOut }) => !heldOut)
    .map(({ id, turns }): Source => ({ source: "public", topic: id.replace(/(?:-\d+){2}$/, ""), turns })),
  ...readJsonLines<{ readonly id: string; readonly heldOut: boolean; readonly turns: ReadonlyArray<Turn> }>(
    join(root, "test/qa/dialogues.jsonl")
  )
    .filter(({ heldOut }) => !heldOut)
    .map(({ id, turns }): Source => ({ source: "written", topic: id, turns })),
  ...readJsonLines<Pick<Source, "source" | "turns">>(flag("--examples")).map(({ source, turns }): Source => ({
    source,
    topic: turns[0]?.question ?? "",
    turns
  }))
]

const keptApart: ReadonlySet<string> = new Set(
  readJsonLines<{ readonly heldOut: boolean; readonly document: string }>(
    join(root, "test/qa/dialogues.jsonl")
  )
    .filter(({ heldOut }) => heldOut)
    .map(({ document }) => document)
)

const isChinese = (text: string): boolean => /\p{Script=Han}/u.test(text)

/** The turns of another dialogue in the same language. */
const otherHistory = (question: string): ReadonlyArray<ConversationTurn> => {
  const others = sources.filter(({ turns }) => isChinese(turns[0]?.question ?? "") === isChinese(question))
  const turns = others[hash(question) % others.length]?.turns ?? []
  return historyOf(turns, 1 + (hash(`${question}.`) % turns.length))
}

/** The next dialogue of a source, which is often about the same topic. */
const nextTurns = new Map<Source, ReadonlyArray<Turn>>()
for (const of of Map.groupBy(
  sources,
  ({ source, turns }) => `${source} ${isChinese(turns[0]?.question ?? "")}`
).values())
  of.forEach((one, i) => nextTurns.set(one, of[(i + 1) % of.length]!.turns))

const examplesOf = (of: Source): ReadonlyArray<Example> => {
  const { source, topic, turns } = of
  const next = nextTurns.get(of) ?? []
  return turns.flatMap(({ question, standalone }, i) => {
    const example = { source, part: hash(topic) % PARTS, count: COUNTS[source] }
    const whole = { ...example, depends: false, question: standalone ?? question }
    const after = {
      ...whole,
      history: otherHistory(whole.question),
      source: standalone === undefined ? `${source} first` : `${source} elsewhere`
    }
    const afterNext = { ...after, history: historyOf(next, next.length), source: `${source} first, next` }
    if (standalone === undefined) return i === 0 ? [after, ...(next.length > 0 ? [afterNext] : [])] : []
    const history = historyOf(turns, i)
    return [
      { ...example, depends: true, question, history },
      { ...whole, history, source: `${source} rewritten`, count: example.count / 2 },
      after
    ]
  })
}

/** Questions about one document, of documents that no dialogue kept apart is about. */
const questionsOf = (name: string): ReadonlyArray<ReadonlyArray<string>> => {
  const folder = join(flag("--data"), "retrieval", name)
  const documents = new Map(
    readFileSync(join(folder, "qrels.tsv"), "utf8")
      .split("\n")
      .map((line) => line.split("\t"))
      .map(([query = "", document = ""]) => [query, document])
  )
  const queries = readJsonLines<{ readonly _id: string; readonly text: string }>(
    join(folder, "queries.jsonl")
  )
  return Map.groupBy(queries, ({ _id }) => documents.get(_id) ?? "")
    .entries()
    .filter(([document]) => !keptApart.has(document))
    .map(([, of]) => of.map(({ text }) => text))
    .toArray()
}

const others = [...questionsOf("cmrc2018"), ...questionsOf("cranfield")].flat()

/** Chinese questions about one document begin with the same name. Without it, all but the first are follow-ups. */
const withoutName = (of: ReadonlyArray<string>): ReadonlyArray<Turn> => {
  const [first = ""] = of
  return of.flatMap((standalone, i): ReadonlyArray<Turn> => {
    if (i === 0) return [{ question: standalone, answer: "" }]
    const same = [...standalone].findIndex((character, at) => character !== first[at])
    const rest = standalone.slice(same).replace(/^的/, "")
    if (same < 3 || rest.length < 4 || !isChinese(rest)) return []
    return [
      { question: hash(standalone) % 3 === 0 ? `它${standalone.slice(same)}` : rest, standalone, answer: "" }
    ]
  })
}
const questions = readJsonLines<{ readonly question: string }>(join(root, "test/qa/questions.jsonl")).map(
  ({ question }) => question
)

const examples: ReadonlyArray<Example> = [
  ...sources.flatMap(examplesOf),
  ...questionsOf("cmrc2018")
    .map(withoutName)
    .flatMap((turns) => examplesOf({ source: "made", topic: turns[0]?.question ?? "", turns })),
  ...[...others, ...questions].map((question): Example => ({
    question,
    history: otherHistory(question),
    depends: false,
    count: COUNTS.other,
    source: "other",
    part: hash(question) % PARTS
  }))
]

/** Words in follow-ups of enough dialogues. */
const wordsIn = (of: ReadonlyArray<Example>): ReadonlySet<string> => {
  const counts = new Map<string, number>()
  for (const { depends, history, question } of of)
    if (depends)
      for (const token of followUpFeatures(question, history, () => true))
        if (!/^#(?!latin)/.test(token)) counts.set(token, (counts.get(token) ?? 0) + 1)
  return new Set(counts.keys().filter((token) => counts.get(token)! >= LEAST))
}

/** Logistic regression by AdaGrad, with weight decay. */
const learn = (of: ReadonlyArray<Example>, decay: number): ReadonlyMap<string, number> => {
  const known = wordsIn(of)
  const rows = of.map((example) => ({
    ...example,
    features: followUpFeatures(example.question, example.history, (token) => known.has(token))
  }))
  const weights = new Map<string, number>()
  const squares = new Map<string, number>()
  const order = rows.keys().toArray()
  for (let round = 0; round < ROUNDS; round++) {
    const places = order.map((at) => hash(`${round} ${at}`))
    for (const at of order.toSorted((a, b) => places[a]! - places[b]!)) {
      const { count, depends, features } = rows[at]!
      const score = features.reduce((sum, feature) => sum + (weights.get(feature) ?? 0), 0)
      const error = (1 / (1 + Math.exp(-score)) - (depends ? 1 : 0)) * count
      for (const feature of features) {
        const weight = weights.get(feature) ?? 0
        const gradient = error + (feature.startsWith("#") ? CUE_DECAY : decay) * weight * count
        const square = (squares.get(feature) ?? 1e-8) + gradient * gradient
        squares.set(feature, square)
        weights.set(feature, weight - (RATE * gradient) / Math.sqrt(square))
      }
    }
  }
  for (const token of known) if (!weights.has(token)) weights.set(token, 0)
  return weights
}

const scoreOf = (weights: ReadonlyMap<string, number>, { history, question }: Example): number =>
  followUpFeatures(question, history, (token) => weights.has(token)).reduce(
    (sum, feature) => sum + (weights.get(feature) ?? 0),
    0
  )

const output: Array<string> = []
for (const language of ["en", "zh"] as const) {
  const of = examples.filter(({ question }) => isChinese(question) === (language === "zh"))
  if (process.argv.includes("--check")) {
    const scored = Array.from({ length: PARTS }, (_, part) => {
      const weights = learn(
        of.filter((example) => example.part !== part),
        DECAY[language]
      )
      return of
        .filter((example) => example.part === part)
        .map((example) => ({ ...example, score: scoreOf(weights, example) }))
    }).flat()
    for (const [source, all] of Map.groupBy(scored, ({ source }) => source)) {
      const taken = all.filter(({ score }) => score > THRESHOLD[language])
      console.log(language, source, `${taken.length} of ${all.length} taken for follow-ups`)
    }
  } else {
    const weights = learn(of, DECAY[language])
    const entries = [...weights].map(([name, weight]) => {
      const shifted = name === "#bias" ? weight - THRESHOLD[language] : weight
      return `${name}:${Number(shifted.toFixed(2))}`
    })
    output.push(`  ${language}: parse(\n    ${JSON.stringify(entries.toSorted().join("|"))}\n  )`)
  }
}

const HEADER = `/** Learnt weights, written by \`scripts/learn-follow-ups.ts\`. Above 0, a question depends on the turns before it. */

const parse = (text: string): ReadonlyMap<string, number> =>
  new Map(
    text.split("|").map((entry) => {
      const at = entry.lastIndexOf(":")
      return [entry.slice(0, at), Number(entry.slice(at + 1))]
    })
  )

`
if (output.length > 0)
  writeFileSync(
    join(root, "packages/core/src/conversation/FollowUpWeights.ts"),
    `${HEADER}export const WEIGHTS = {\n${output.join(",\n")}\n} as const\n`
  )
