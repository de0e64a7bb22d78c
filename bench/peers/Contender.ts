/** Runs one contender in its own process and measures it. */
import type { Use } from "./gateway.ts"

export interface Task {
  /** URL of the gateway. */
  readonly gateway: string
  /** Folder of Markdown. */
  readonly docs: string
  /** The contender's own folder for its data. */
  readonly data: string
}

export interface Contender {
  /** Updates its store from the folder. Returns the number of passages. */
  readonly ingest: () => Promise<number>
  /** Retrieves 20, reranks, keeps 3. Returns the paths of their documents, best first. */
  readonly query: (question: string) => Promise<ReadonlyArray<string>>
  readonly close?: () => Promise<void>
}

export interface Contest {
  readonly passages: number
  readonly ingestMilliseconds: number
  readonly ingestGatewayMilliseconds: number
  /** CPU of all threads of this process. */
  readonly ingestCpuMilliseconds: number
  readonly ingestCalls: number
  /** The second ingest, of unchanged documents. Absent in the first report. */
  readonly again?: { readonly milliseconds: number; readonly calls: number }
  /** For each measured question: total time, and the time within the gateway. */
  readonly queries: ReadonlyArray<readonly [milliseconds: number, gateway: number]>
  /** CPU per question, of all threads of this process. */
  readonly queryCpuMilliseconds: number
  /** Share of the questions whose document is among the three kept, 0 to 1. */
  readonly found: number
  readonly peakMegabytes: number
}

interface Assignment extends Task {
  readonly questions: ReadonlyArray<{ readonly question: string; readonly path: string }>
  /** Number of questions at the beginning that are not measured. */
  readonly warmup: number
}

const cpuMilliseconds = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1000
}

/** Runs a contender on the assignment in the first argument and prints the measurements as JSON. */
export const contest = async (make: (task: Task) => Promise<Contender>): Promise<void> => {
  const assignment: Assignment = JSON.parse(process.argv[2] ?? "{}")
  const { docs, data, gateway, questions, warmup } = assignment
  const used = async (): Promise<Use> => {
    const answer = await fetch(`${gateway}/use`)
    return (await answer.json()) as Use
  }
  const contender = await make({ docs, data, gateway })
  const timed = async <A>(work: () => Promise<A>) => {
    await used()
    const before = cpuMilliseconds()
    const start = performance.now()
    const result = await work()
    const milliseconds = performance.now() - start
    return { milliseconds, cpu: cpuMilliseconds() - before, result, use: await used() }
  }
  const first = await timed(contender.ingest)
  const queries: Array<readonly [number, number]> = []
  let cpu = 0
  let found = 0
  for (const [i, { path, question }] of questions.entries()) {
    const asked = await timed(() => contender.query(question))
    if (i < warmup) continue
    const { rerankCalls, milliseconds } = asked.use
    if (rerankCalls !== 1) throw new Error(`${rerankCalls} rerank calls for a question`)
    queries.push([asked.milliseconds, milliseconds])
    cpu += asked.cpu
    if (asked.result.includes(path)) found++
  }
  const counted = Math.max(1, queries.length)
  const report = (again?: Contest["again"]) => console.log(JSON.stringify({ ...result(), again }))
  const result = (): Contest => ({
    passages: first.result,
    ingestMilliseconds: first.milliseconds,
    ingestGatewayMilliseconds: first.use.milliseconds,
    ingestCpuMilliseconds: first.cpu,
    ingestCalls: first.use.embeddingCalls,
    queries,
    queryCpuMilliseconds: cpu / counted,
    found: found / counted,
    // maxRSS is in kilobytes.
    peakMegabytes: process.resourceUsage().maxRSS / 1024
  })
  // Printed before the last part too, in case that exceeds the time limit.
  report()
  const again = await timed(contender.ingest)
  report({ milliseconds: again.milliseconds, calls: again.use.embeddingCalls })
  await contender.close?.()
}
