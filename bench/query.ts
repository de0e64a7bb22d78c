/** From a question to three reranked passages in the process, and to a cited answer over HTTP. */
import * as Embedded from "@sluice/embedded"
import { Library } from "@sluice/rag"
import { Effect } from "effect"
import { join } from "node:path"
import { type Bench, type Figures, percentile, rounded, say } from "./Bench.ts"
import { corpus, documentsFor, withFolder, writeCorpus } from "./CorpusFolder.ts"
import { withServer } from "./RunningServer.ts"

/** The first questions warm up the compiler and the caches and are not counted: it is steady after some hundreds. */
const WARMUP = 300
const QUESTIONS = 500

const figuresOf = (what: string, samples: ReadonlyArray<number>): Figures => {
  const counted = samples.slice(WARMUP)
  return {
    [`${what} p50 (ms)`]: rounded(percentile(counted, 0.5)),
    [`${what} p95 (ms)`]: rounded(percentile(counted, 0.95))
  }
}

const timeEach = async (questions: ReadonlyArray<string>, ask: (question: string) => Promise<unknown>) => {
  const samples: Array<number> = []
  for (const question of questions) {
    const start = performance.now()
    await ask(question)
    samples.push(performance.now() - start)
  }
  return samples
}

const overHttp = (data: string, questions: ReadonlyArray<string>) =>
  withServer(data, async ({ output, url }) => {
    const key = /\bsk-[\w-]+/.exec(output())?.[0]
    if (key === undefined) throw new Error(`the server told no key: ${output()}`)
    return timeEach(questions, async (question) => {
      const answer = await fetch(`${url}/qa`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ question })
      })
      const body = await answer.text()
      if (!answer.ok) throw new Error(`POST /qa answered ${answer.status}: ${body}`)
    })
  })

const atSize = (passages: number) =>
  withFolder(async (folder): Promise<Figures> => {
    const documents = documentsFor(passages)
    const docs = join(folder, "docs")
    const data = join(folder, "data")
    await writeCorpus(docs, documents)
    const questions = Array.from({ length: WARMUP + QUESTIONS }, (_, at) => corpus.question(at % documents))
    const inProcess = await Effect.gen(function* () {
      const library = yield* Library.open(join(data, "library"))
      yield* library.ingest(docs)
      const run = yield* Effect.context<never>()
      return yield* Effect.promise(() =>
        timeEach(questions, (question) => Effect.runPromiseWith(run)(library.retrieve(question)))
      )
    }).pipe(Effect.scoped, Effect.provide(Embedded.layer), Effect.runPromise)
    say(`  ${passages} passages, in the process: done`)
    const size = passages.toLocaleString("en")
    return {
      ...figuresOf(`question to 3 passages, in process, ${size} passages,`, inProcess),
      ...figuresOf(`question to cited answer, HTTP, ${size} passages,`, await overHttp(data, questions))
    }
  })

export const bench: Bench = async ({ quick }) =>
  quick ? atSize(1000) : { ...(await atSize(1000)), ...(await atSize(10_000)) }
