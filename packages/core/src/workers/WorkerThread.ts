/**
 * Entry of a thread of the pool. Nothing imports it.
 *
 * The compile cache must be enabled before modules are imported: a thread then loads TypeScript in a fifth of the time.
 */
import * as module from "node:module"
import { getPriority, setPriority } from "node:os"
import { getHeapStatistics, setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
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

/** A thread whose heap has grown by so many bytes gives memory back after the job. */
const MUCH_MEMORY = 128 * 1024 ** 2

const heapBytes = (): number => getHeapStatistics().total_heap_size

/** What the thread keeps, such as a loaded model. */
let kept = 0

/**
 * Gives the memory of past jobs back to the system. Otherwise an idle thread keeps it, and V8 gives the memory of an ended
 * thread back in the main thread, which is silent meanwhile: 0.1 to 0.2 s for half a gigabyte. Only this kind of garbage
 * collection gives it back.
 */
const giveBackMemory = (): void => {
  if (heapBytes() < kept + MUCH_MEMORY) return
  setFlagsFromString("--expose-gc")
  // Other engines than V8 have none.
  const collect = runInNewContext("globalThis.gc") as ((options: object) => void) | undefined
  setFlagsFromString("--no-expose-gc")
  collect?.({ type: "major", flavor: "last-resort" })
  kept = heapBytes()
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
  else void run(message.module, message.job, message.input).then(giveBackMemory)
})
