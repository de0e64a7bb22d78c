/** Jobs for the tests of the pool. */
import { getPriority } from "node:os"
import { getHeapStatistics } from "node:v8"
import type { WorkerContext, WorkerOutput } from "@sluice/core/workers"

export const double = (input: number): WorkerOutput<number> => ({ value: input * 2 })

/** The priority of the thread, on Linux. */
export const priority = (): WorkerOutput<number> => ({ value: getPriority() })

export const spin = (): never => {
  for (;;);
}

export const allocate = (): WorkerOutput<number> => {
  const kept: Array<object> = []
  for (;;) kept.push({ at: kept.length, text: `${kept.length}` })
}

/** Holds 1.2 GB, which is less than V8 allows, and never ends. */
export const hold = (): Promise<WorkerOutput<number>> => {
  const kept = Array.from({ length: 5 }, () => Array.from({ length: 30_000_000 }, () => 0.5))
  return new Promise((resolve) => setTimeout(() => resolve({ value: kept.length }), 2 ** 31 - 1))
}

/** Makes garbage. The bytes of heap before it, and with it. */
export const makeGarbage = (): WorkerOutput<readonly [number, number]> => {
  const before = getHeapStatistics().total_heap_size
  const texts = Array.from({ length: 4_000_000 }, (_, at) => `${at}`)
  const made = texts.length > 0 ? getHeapStatistics().total_heap_size : 0
  return { value: [before, made] }
}

export const crash = (): never => {
  throw new Error("the job failed")
}

/** Fails after its end. */
export const failLater = (): WorkerOutput<string> => {
  setTimeout(() => crash(), 20)
  return { value: "done" }
}

export const exit = (): never => process.exit(3)

export const askTwice = async (input: string, { ask }: WorkerContext): Promise<WorkerOutput<string>> => ({
  value: `${await ask(`${input} 1`)}, ${await ask(`${input} 2`)}`
})

export const spinInStep = (input: number, { progress }: WorkerContext): never => {
  progress({ page: input })
  return spin()
}

let calls = 0

/** How often it was called in this thread. */
export const countCalls = (milliseconds: number): Promise<WorkerOutput<number>> =>
  new Promise((resolve) => setTimeout(() => resolve({ value: ++calls }), milliseconds))
