/**
 * Local models: our embedder beside `fastembed`, and our reranker beside its runtime called directly, on the same files.
 * `--model` names folders of models; without it, models with random weights are written. `--with` names what to measure:
 * `mixed`, `long`, `rerank`. See bench/peers/README.md.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { loadavg } from "node:os"
import { join, resolve } from "node:path"
import { peerLibrary } from "../test/transformers/PeerLibrary.ts"
import { type Bench, type Figures, median, rounded, say } from "./Bench.ts"
import { make } from "./corpus/Corpus.ts"
import { withFolder } from "./corpus/CorpusFolder.ts"
import { seeded } from "./corpus/Random.ts"
import type { Assignment, Call, Reply } from "./local/Contender.ts"
import { writeRandomModels } from "./local/RandomBert.ts"

/** Both are asked in turn this often, so that other load on the machine affects both. */
const TURNS = 3
const QUICK_TURNS = 1

/** The most tokens of a text, for all: `fastembed` fills every text up to it. */
const MAX_TOKENS = 128

/** Texts of mixed lengths, in characters. Some seven are a token of the random models. */
const TEXTS = 256
const MIXED = { shortest: 20, longest: 1_000 }
/** Characters of a text that has more tokens than are read. */
const LONG = 1_500
/** Texts whose words the random models know: of other texts they know most, and spell the rest. */
const KNOWN_TEXTS = 500
const LONG_TEXTS = 32
const RERANKED = 40
/** The first call loads the model. */
const WARMUP_TEXTS = 16

/** The least cosine of two vectors, and the largest difference of two scores, that are of the same work. */
const SAME = { cosine: 0.999, score: 0.001 }

const corpus = make(1)

const textsOf = (count: number, lengthOf: () => number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, i) => corpus.document(i).text.slice(0, lengthOf()))

const mixedTexts = (count: number): ReadonlyArray<string> => {
  const { between } = seeded(count)
  return textsOf(count, () => between(MIXED.shortest, MIXED.longest))
}

interface Contest {
  readonly id: "mixed" | "long" | "rerank"
  readonly name: string
  readonly call: Call
  readonly other: { readonly name: string; readonly file: string; readonly package: string }
}

const FASTEMBED = {
  name: "fastembed",
  file: "fastembed.ts",
  package: join(import.meta.dirname, "peers/node_modules/fastembed")
}
const RUNTIME = {
  name: "runtime",
  file: "runtime.ts",
  package: join(import.meta.dirname, "../test/transformers/peer/node_modules/@huggingface/transformers")
}

const contestsOf = (isReranker: boolean, quick: boolean): ReadonlyArray<Contest> => {
  const few = quick ? 8 : 1
  if (isReranker) {
    const call = { query: corpus.question(0), texts: mixedTexts(RERANKED) }
    return [{ id: "rerank", name: `rerank ${RERANKED}`, call, other: RUNTIME }]
  }
  const mixed = mixedTexts(TEXTS / few)
  const long = textsOf(LONG_TEXTS / few, () => LONG)
  return [
    { id: "mixed", name: `embed ${mixed.length} mixed texts`, call: { texts: mixed }, other: FASTEMBED },
    { id: "long", name: `embed ${long.length} long texts`, call: { texts: long }, other: FASTEMBED }
  ]
}

const start = (file: string, assignment: Assignment): ChildProcess =>
  fork(join(import.meta.dirname, "local", file), [JSON.stringify(assignment)], {
    execArgv: ["--conditions=@sluice/source"]
  })

const ask = async (contender: ChildProcess, call: Call): Promise<Reply> => {
  contender.send(call)
  const ended = once(contender, "exit").then(([code]) => {
    throw new Error(`A contender ended with ${code}.`)
  })
  const [reply] = await Promise.race([once(contender, "message"), ended])
  return reply
}

/** Fails if the results are not of the same work. */
const checkSame = (isReranker: boolean, ours: Reply["values"], theirs: Reply["values"]): void => {
  const same = ours.map((own, i) => {
    const other = theirs[i] ?? []
    if (isReranker) return Math.abs(own[0]! - other[0]!) <= SAME.score
    const product = own.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
    return product / (Math.hypot(...own) * Math.hypot(...other)) >= SAME.cosine
  })
  const others = same.filter((one) => !one).length
  if (others > 0 || ours.length !== theirs.length)
    throw new Error(`${others} of ${ours.length} results differ: the comparison is not of the same work.`)
}

const figuresOf = (
  { call, name, other }: Contest,
  pairs: ReadonlyArray<readonly [Reply, Reply]>
): Figures => {
  const figures: Record<string, number> = {}
  for (const [at, who] of ["sluice", other.name].entries()) {
    const of = (figure: keyof Omit<Reply, "values">) => median(pairs.map((pair) => pair[at]![figure]))
    const milliseconds = of("milliseconds")
    if (call.query === undefined)
      figures[`${name}, ${who} (texts/s)`] = rounded((1000 * call.texts.length) / milliseconds, 1)
    else figures[`${name}, ${who} (ms)`] = rounded(milliseconds, 0)
    figures[`${name}, ${who}: CPU (ms)`] = rounded(of("cpuMilliseconds"), 0)
    figures[`${name}, ${who}: longest wait of the event loop (ms)`] = rounded(of("waitMilliseconds"), 0)
  }
  const ratio = (figure: "milliseconds" | "cpuMilliseconds") =>
    rounded(median(pairs.map(([ours, theirs]) => ours[figure] / theirs[figure])))
  figures[`${name}, sluice to ${other.name}: × time`] = ratio("milliseconds")
  figures[`${name}, sluice to ${other.name}: × CPU`] = ratio("cpuMilliseconds")
  return figures
}

const measure = async (
  contest: Contest,
  isReranker: boolean,
  assignment: Assignment,
  turns: number
): Promise<Figures> => {
  const contenders = [start("sluice.ts", assignment), start(contest.other.file, assignment)] as const
  const [sluice, other] = contenders
  try {
    const few = { ...contest.call, texts: contest.call.texts.slice(0, WARMUP_TEXTS) }
    for (const contender of contenders) await ask(contender, few)
    const pairs: Array<readonly [Reply, Reply]> = []
    for (let turn = 0; turn < turns; turn++) {
      const before = turn % 2 === 1 ? await ask(other, contest.call) : undefined
      const own = await ask(sluice, contest.call)
      const pair = [own, before ?? (await ask(other, contest.call))] as const
      checkSame(isReranker, pair[0].values, pair[1].values)
      pairs.push(pair)
      const times = pair.map(
        (reply) => `${rounded(reply.milliseconds, 0)} ms (CPU ${rounded(reply.cpuMilliseconds, 0)} ms)`
      )
      say(`  ${contest.name}: ${times.join(" and ")}, load ${rounded(loadavg()[0] ?? 0, 1)}`)
    }
    return figuresOf(contest, pairs)
  } finally {
    for (const contender of contenders) contender.kill()
  }
}

export const bench: Bench = ({ models: given, quick, with: chosen }) =>
  withFolder(async (folder) => {
    if (peerLibrary === undefined) {
      say("  @huggingface/transformers is not installed: see test/transformers/peer/README.md")
      return {}
    }
    const models =
      given.length > 0
        ? given
        : await writeRandomModels(
            folder,
            textsOf(KNOWN_TEXTS, () => LONG)
          )
    const figures: Record<string, number> = {}
    for (const model of models.map((path) => resolve(path))) {
      const { architectures } = JSON.parse(await readFile(join(model, "config.json"), "utf8"))
      const isReranker = String(architectures?.[0]).endsWith("ForSequenceClassification")
      const dtype = existsSync(join(model, "onnx/model.onnx")) ? "fp32" : "q8"
      const assignment = { model, dtype, maxTokens: MAX_TOKENS, library: peerLibrary } as const
      for (const contest of contestsOf(isReranker, quick)) {
        if (chosen.length > 0 && !chosen.includes(contest.id)) continue
        if (existsSync(contest.other.package))
          Object.assign(figures, await measure(contest, isReranker, assignment, quick ? QUICK_TURNS : TURNS))
        else say(`  ${contest.other.name} is not installed: see bench/peers/README.md`)
      }
    }
    return figures
  })
