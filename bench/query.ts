/** Times questions: to three reranked passages in the process, and to a cited answer over HTTP. */
import * as Embedded from "@sluice/embedded"
import { Library } from "@sluice/rag"
import { Effect } from "effect"
import { join } from "node:path"
import { type Bench, type Figures, percentile, rounded, say } from "./Bench.ts"
import { corpus, documentsFor, withFolder, writeCorpus } from "./corpus/CorpusFolder.ts"
import { recallOfExact } from "./corpus/ExactRecall.ts"
import { withServer } from "./server/RunningServer.ts"

/** The first questions warm up the compiler and the caches, and are not counted. */
const WARMUP = 300
const QUESTIONS = 500
/** Questions whose events are timed. */
const STREAMED = 220
/** Questions that are compared with an exact search. */
const COMPARED = 100

const percentiles = (what: string, samples: ReadonlyArray<number>, warmup = WARMUP): Figures => {
  const counted = samples.slice(warmup)
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

const withKey = <A>(
  data: string,
  use: (ask: (accept: string, question: string) => Promise<Response>) => Promise<A>
) =>
  withServer(data, async ({ output, url }) => {
    const key = /\bsk-[\w-]+/.exec(output())?.[0]
    if (key === undefined) throw new Error(`the server printed no key: ${output()}`)
    return use(async (accept, question) => {
      const answer = await fetch(`${url}/qa`, {
        method: "POST",
        headers: { accept, authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ question })
      })
      if (!answer.ok) throw new Error(`POST /qa returned ${answer.status}: ${await answer.text()}`)
      return answer
    })
  })

/** Milliseconds until the event of the recalled passages is complete. */
const untilRecalled = async (answer: Response, start: number): Promise<number> => {
  let text = ""
  let at = Number.NaN
  for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    const event = text.indexOf('"recalled"')
    if (Number.isNaN(at) && event >= 0 && text.includes("\n\n", event)) at = performance.now() - start
  }
  if (Number.isNaN(at)) throw new Error(`no event of recalled passages: ${text.slice(0, 500)}`)
  return at
}

const overHttp = (data: string, questions: ReadonlyArray<string>) =>
  withKey(data, async (ask) => {
    const answered = await timeEach(questions, async (question) =>
      (await ask("application/json", question)).text()
    )
    const recalled: Array<number> = []
    for (const question of questions.slice(0, STREAMED)) {
      const start = performance.now()
      recalled.push(await untilRecalled(await ask("text/event-stream", question), start))
    }
    return { answered, recalled }
  })

const atSize = (passages: number) =>
  withFolder(async (folder): Promise<Figures> => {
    const documents = documentsFor(passages)
    const docs = join(folder, "docs")
    const data = join(folder, "data")
    const opened = join(data, "library")
    await writeCorpus(docs, documents)
    const questions = Array.from({ length: WARMUP + QUESTIONS }, (_, at) => corpus.question(at % documents))
    const { recall, samples } = await Effect.gen(function* () {
      const library = yield* Library.open(opened)
      yield* library.ingest(docs)
      const run = yield* Effect.context<never>()
      const samples = yield* Effect.promise(() =>
        timeEach(questions, (question) => Effect.runPromiseWith(run)(library.retrieve(question)))
      )
      const recall = yield* recallOfExact(opened, yield* library.stats, questions.slice(0, COMPARED))
      return { recall, samples }
    }).pipe(Effect.scoped, Effect.provide(Embedded.layer), Effect.runPromise)
    const size = passages.toLocaleString("en")
    say(`  ${size} passages, in the process: done`)
    const { answered, recalled } = await overHttp(data, questions)
    return {
      ...percentiles(`question to 3 passages, in process, ${size} passages,`, samples),
      [`recall@20 of exact search, ${size} passages (share)`]: rounded(recall, 4),
      ...percentiles(`question to cited answer, HTTP, ${size} passages,`, answered),
      ...percentiles(`question to recalled passages, HTTP events, ${size} passages,`, recalled, 20)
    }
  })

export const bench: Bench = async ({ quick }) => {
  const figures: Record<string, number> = {}
  for (const size of quick ? [1000] : [1000, 10_000, 100_000]) Object.assign(figures, await atSize(size))
  return figures
}
