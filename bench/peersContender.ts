/** What every contender does, each in a process of its own, so that memory and time are its alone. */
import type { Use } from "./peersGateway.ts"

/** What a contender is given. */
export interface Task {
  /** URL of the gateway. */
  readonly gateway: string
  /** Folder of Markdown. */
  readonly docs: string
  /** Folder of its own to keep what it makes. */
  readonly data: string
}

/** What it must be able to do. */
export interface Contender {
  /** Brings its store up to date with the folder; passages that are in it. */
  readonly ingest: () => Promise<number>
  /** Recalls 20, reranks, keeps 3: the paths of their documents, best first. */
  readonly query: (question: string) => Promise<ReadonlyArray<string>>
  readonly close?: () => Promise<void>
}

/** What came of it. Times in milliseconds. */
export interface Contest {
  readonly passages: number
  readonly ingestMilliseconds: number
  readonly ingestGatewayMilliseconds: number
  /** CPU of this process, all its threads. */
  readonly ingestCpuMilliseconds: number
  readonly ingestCalls: number
  /** Absent in what is told before the end. */
  readonly again?: { readonly milliseconds: number; readonly calls: number }
  /** Of each question that counts: all of it, and what the gateway took of it. */
  readonly queries: ReadonlyArray<readonly [milliseconds: number, gateway: number]>
  /** CPU of this process for one question, all its threads. */
  readonly queryCpuMilliseconds: number
  /** Share of the questions whose document is among the three kept. */
  readonly found: number
  readonly peakMegabytes: number
}

interface Assignment extends Task {
  readonly questions: ReadonlyArray<{ readonly question: string; readonly path: string }>
  /** Questions at the beginning that do not count. */
  readonly warmup: number
}

const cpuMilliseconds = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1000
}

/** Runs a contender on the assignment that the command names, and prints what came of it. */
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
    await used()
    const before = cpuMilliseconds()
    const start = performance.now()
    const kept = await contender.query(question)
    const milliseconds = performance.now() - start
    const after = cpuMilliseconds()
    const use = await used()
    if (i < warmup) continue
    if (use.rerankCalls !== 1) throw new Error(`${use.rerankCalls} rerank calls for a question`)
    queries.push([milliseconds, use.milliseconds])
    cpu += after - before
    if (kept.includes(path)) found++
  }
  const counted = Math.max(1, queries.length)
  const tell = (again?: Contest["again"]) => console.log(JSON.stringify({ ...told(), again }))
  const told = (): Contest => ({
    passages: first.result,
    ingestMilliseconds: first.milliseconds,
    ingestGatewayMilliseconds: first.use.milliseconds,
    ingestCpuMilliseconds: first.cpu,
    ingestCalls: first.use.embeddingCalls,
    queries,
    queryCpuMilliseconds: cpu / counted,
    found: found / counted,
    // maxRSS is VmHWM, in kilobytes.
    peakMegabytes: process.resourceUsage().maxRSS / 1024
  })
  // Told before the last part too: who needs too long for that has the figures of the others.
  tell()
  const again = await timed(contender.ingest)
  tell({ milliseconds: again.milliseconds, calls: again.use.embeddingCalls })
  await contender.close?.()
}
