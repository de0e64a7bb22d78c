/** Jobs for the tests of the pool. */
import type { WorkerContext, WorkerOutput } from "@sluice/core/workers"

export const double = (input: number): WorkerOutput<number> => ({ value: input * 2 })

export const spin = (): never => {
  for (;;);
}

export const allocate = (): WorkerOutput<number> => {
  const kept: Array<object> = []
  for (;;) kept.push({ at: kept.length, text: `${kept.length}` })
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
