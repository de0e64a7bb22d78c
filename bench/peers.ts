/** Compares Sluice with other retrieval libraries and a hand-written script, on one gateway with the same vectors. */
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { type Bench, type Figures, median, percentile, rounded, say } from "./Bench.ts"
import { start, stop } from "./server/Program.ts"
import { corpus, documentsFor, withFolder, writeCorpus } from "./corpus/CorpusFolder.ts"
import type { Contest } from "./peers/Contender.ts"

/** Measured questions, after a warm-up. Latency is steady after some hundreds. */
const QUESTIONS = 300
const WARMUP = 300
const WARMUP_CALLS = 40
const LIMIT_MILLISECONDS = 10 * 60_000

/** All contenders run in turn this often, so that other load on the machine affects all of them. */
const TURNS = 3

const here = (file: string) => join(import.meta.dirname, file)

/** Each runs in its own process. The `.mjs` files need the packages of bench/peers. */
const CONTENDERS: ReadonlyArray<{
  readonly name: string
  readonly file: string
  readonly env?: Readonly<Record<string, string>>
}> = [
  { name: "sluice", file: "peers/sluice.ts" },
  { name: "langchain", file: "peers/langchain.mjs" },
  { name: "llamaindex", file: "peers/llamaindex.mjs" },
  { name: "script, vectors", file: "peers/script.mjs" },
  { name: "script, hybrid", file: "peers/script.mjs", env: { HYBRID: "1" } }
]

const figuresOf = (name: string, size: string, contest: Contest): Figures => {
  const own = contest.queries.map(([all, gateway]) => all - gateway)
  const all = contest.queries.map(([milliseconds]) => milliseconds)
  const key = (what: string) => `${size}, ${name}: ${what}`
  return {
    [key("passages")]: contest.passages,
    [key("ingest (passages/s)")]: rounded(contest.passages / (contest.ingestMilliseconds / 1000), 0),
    [key("ingest without the gateway (s)")]: rounded(
      (contest.ingestMilliseconds - contest.ingestGatewayMilliseconds) / 1000
    ),
    [key("ingest CPU (s)")]: rounded(contest.ingestCpuMilliseconds / 1000),
    [key("ingest, embedding calls")]: contest.ingestCalls,
    ...(contest.again && {
      [key("unchanged, embedding calls")]: contest.again.calls,
      [key("unchanged (ms)")]: rounded(contest.again.milliseconds, 0)
    }),
    [key("query p50 (ms)")]: rounded(median(all)),
    [key("query p95 (ms)")]: rounded(percentile(all, 0.95)),
    [key("query without the gateway p50 (ms)")]: rounded(median(own)),
    [key("query without the gateway p95 (ms)")]: rounded(percentile(own, 0.95)),
    [key("query CPU (ms)")]: rounded(contest.queryCpuMilliseconds),
    [key("document found among 3 (share)")]: rounded(contest.found, 3),
    [key("peak memory (MB)")]: rounded(contest.peakMegabytes, 0)
  }
}

const run = async (
  contender: (typeof CONTENDERS)[number],
  assignment: object
): Promise<Contest | undefined> => {
  const { error, stdout } = await new Promise<{ error: Error | null; stdout: string }>((done) =>
    execFile(
      process.execPath,
      // Without the source condition: Sluice runs as built JavaScript, like the others.
      [here(contender.file), JSON.stringify(assignment)],
      {
        encoding: "utf8",
        env: { ...process.env, ...contender.env, LANCE_LOG: "error" },
        timeout: LIMIT_MILLISECONDS,
        maxBuffer: 64 * 1024 * 1024
      },
      (error, stdout) => done({ error, stdout })
    )
  )
  // A contender that does not finish keeps the figures that it printed before.
  if (error !== null) say(`  ${contender.name} did not finish: ${error.message.slice(-400)}`)
  const last = stdout.split("\n").findLast((line) => line.startsWith("{"))
  return last === undefined ? undefined : JSON.parse(last)
}

/** Contenders to compute ratios for. */
const COMPARED = ["langchain", "script, hybrid"]
const RATIOS = ["ingest (passages/s)", "query without the gateway p50 (ms)", "peak memory (MB)"]

/** The median of each figure over the turns, and the median of the ratios, which are computed per turn. */
const medians = (turns: ReadonlyArray<Figures>, size: string): Figures => {
  const of = (figure: (turn: Figures) => number | undefined) => turns.flatMap((turn) => figure(turn) ?? [])
  const names = new Set(turns.flatMap((turn) => Object.keys(turn)))
  const figures = [...names].map((name) => [name, median(of((turn) => turn[name]))] as const)
  const ratios = COMPARED.flatMap((other) =>
    RATIOS.flatMap((what) => {
      const compared = of((turn) => {
        const [ours, theirs] = [turn[`${size}, sluice: ${what}`], turn[`${size}, ${other}: ${what}`]]
        return ours !== undefined && theirs !== undefined ? ours / theirs : undefined
      })
      const name = `${size}, sluice to ${other}: × ${what.replace(/ \(\w+\)$/, "")}`
      return compared.length === 0 ? [] : [[name, rounded(median(compared))] as const]
    })
  )
  return Object.fromEntries([...figures, ...ratios])
}

/** Warms up the gateway's JIT, so that the first contender does not pay for it. */
const warmUp = async (gateway: string): Promise<void> => {
  for (let at = 0; at < WARMUP_CALLS; at++) {
    const input = Array.from({ length: 96 }, (_, i) => corpus.question(at * 96 + i).repeat(10))
    const ask = (path: string, body: object) =>
      fetch(gateway + path, { method: "POST", body: JSON.stringify(body) }).then((answer) => answer.text())
    await ask("/v1/embeddings", { model: "peers", input, encoding_format: at % 2 === 0 ? "base64" : "float" })
    await ask("/v1/rerank", { model: "peers", query: corpus.question(at), documents: input, top_n: 3 })
  }
}

const atSize = (passages: number, turns: number): Promise<Figures> =>
  withFolder(async (folder) => {
    const served = await start([here("peers/gateway.ts")], {}, /port (\d+)/)
    try {
      const size = passages.toLocaleString("en")
      const documents = documentsFor(passages)
      const docs = join(folder, "docs")
      await writeCorpus(docs, documents)
      const questions = Array.from({ length: WARMUP + QUESTIONS }, (_, at) => {
        // A different document for each question, spread over the corpus.
        const index = (at * 37) % documents
        return { question: corpus.question(index), path: corpus.document(index).path }
      })
      const gateway = `http://127.0.0.1:${served.found}`
      await warmUp(gateway)
      const turn = async (number: number): Promise<Figures> => {
        const figures: Record<string, number> = {}
        for (const contender of CONTENDERS) {
          if (contender.file.endsWith(".mjs") && !existsSync(here("peers/node_modules/@langchain/core"))) {
            say(`  ${contender.name} is not installed: see bench/peers/README.md`)
            continue
          }
          const data = join(folder, `${contender.name.replaceAll(/\W+/g, "-")}-${number}`)
          await mkdir(data)
          const contest = await run(contender, { gateway, docs, data, questions, warmup: WARMUP })
          await rm(data, { recursive: true })
          if (contest === undefined) continue
          const own = figuresOf(contender.name, size, contest)
          Object.assign(figures, own)
          const summary = RATIOS.map((what) => `${what} ${own[`${size}, ${contender.name}: ${what}`]}`)
          say(`  ${size}, ${contender.name}: ${summary.join(", ")}`)
        }
        return figures
      }
      const measured: Array<Figures> = []
      for (let number = 1; number <= turns; number++) measured.push(await turn(number))
      return medians(measured, size)
    } finally {
      await stop([served])
    }
  })

export const bench: Bench = async ({ quick }) => {
  await promisify(execFile)("npx", ["tsc", "-b", "packages/core", "packages/rag"], {
    cwd: join(import.meta.dirname, "..")
  })
  const few = await atSize(10_000, quick ? 1 : TURNS)
  return quick ? few : { ...few, ...(await atSize(100_000, 1)) }
}
