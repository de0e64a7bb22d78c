/**
 * Entry of a thread of the pool. Nothing imports it.
 *
 * The compile cache must be enabled before modules are imported: a thread then loads TypeScript in a fifth of the time.
 */
import * as module from "node:module"
import { getPriority, setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import type { FromWorker, ToWorker, WorkerContext, WorkerJob } from "./WorkerMessages.ts"

/** Of 19: a thread that computes gets a tenth of the time of one that answers, if both want the same processor. */
const NICER = 10

// Deno has none.
module.enableCompileCache?.()

// On Linux this is the priority of this thread alone: the thread that answers comes first where processors are few.
try {
  if (process.platform === "linux") setPriority(Math.min(19, getPriority() + NICER))
} catch {
  // It is not allowed here. The order of threads is then the system's.
}

const send = (message: FromWorker, transfer: ReadonlyArray<ArrayBuffer> = []): void =>
  parentPort?.postMessage(message, transfer)

let answered: (answer: unknown) => void = () => {}

const context: WorkerContext = {
  progress: (step) => send({ step }),
  ask: (question) =>
    new Promise((resolve) => {
      answered = resolve as typeof answered
      send({ question })
    })
}

const run = async (module: string, job: string, input: unknown): Promise<void> => {
  try {
    const jobs: Record<string, WorkerJob<unknown, unknown>> = await import(new URL(module).href)
    const { transfer, ...output } = await jobs[job]!(input, context)
    send({ output }, transfer)
  } catch (cause) {
    const { code, stack } = cause as Error & { readonly code?: string }
    send({ thrown: stack ?? String(cause), code })
  }
}

parentPort?.on("message", (message: ToWorker) => {
  if ("answer" in message) answered(message.answer)
  else void run(message.module, message.job, message.input)
})
