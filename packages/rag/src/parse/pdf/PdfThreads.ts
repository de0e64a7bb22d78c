/** Threads in which PDFium works: as many as there are cores to spare, ended when idle, replaced when they hold too much. */
import { availableParallelism } from "node:os"
import { Worker } from "node:worker_threads"
import { Duration, Effect, Semaphore } from "effect"
import { RagError } from "../../RagError.ts"
import type { PdfAnswer, PdfResult, PdfTask } from "./PdfTask.ts"

/** Two threads read as fast as two cores allow; more would hold a PDFium each for little. */
const THREADS = Math.max(1, Math.min(2, availableParallelism()))
/** PDFium's memory never shrinks: a thread that holds more is replaced after its file. */
const RECYCLE_HEAP_BYTES = 192 * 1024 * 1024
/** A thread without work is ended after this time, and its memory with it. */
const IDLE_MILLISECONDS = 10_000
/** What a thread may hold besides PDFium's memory: pages of 10,000 lines and their text. */
const RESOURCES = { maxOldGenerationSizeMb: 1024 }

/** Started by the first PDF; the same file as source and as built. */
const entry = new URL(import.meta.url.endsWith(".ts") ? "./PdfWorker.ts" : "./PdfWorker.js", import.meta.url)

interface Thread {
  readonly worker: Worker
  idle: NodeJS.Timeout | undefined
}

const places = Semaphore.makeUnsafe(THREADS)
const resting: Array<Thread> = []

const end = (thread: Thread): void => {
  clearTimeout(thread.idle)
  const at = resting.indexOf(thread)
  if (at !== -1) resting.splice(at, 1)
  void thread.worker.terminate()
}

const begin = (): Thread => {
  const thread = resting.pop() ?? {
    worker: new Worker(entry, { execArgv: [], name: "sluice-pdf", resourceLimits: RESOURCES }),
    idle: undefined
  }
  clearTimeout(thread.idle)
  thread.worker.ref()
  return thread
}

/** Neither the thread nor its timer keeps the process alive. */
const rest = (thread: Thread): void => {
  thread.worker.unref()
  thread.idle = setTimeout(() => end(thread), IDLE_MILLISECONDS).unref()
  resting.push(thread)
}

/**
 * Does one task in one of the threads, `within` a time counted from when a thread is free. Interruption ends the thread;
 * so do the time limit and a fault that breaks it (memory), and the next task gets a new one.
 */
export const inThread = (
  path: string,
  task: PdfTask,
  within: Duration.Input
): Effect.Effect<PdfResult, RagError> =>
  Effect.callback<PdfResult, RagError>((resume) => {
    const thread = begin()
    const { worker } = thread
    const stop = (): void => {
      worker.off("message", answered).off("error", broke).off("exit", exited)
    }
    const answered = (answer: PdfAnswer): void => {
      stop()
      if (answer.heapBytes > RECYCLE_HEAP_BYTES) end(thread)
      else rest(thread)
      resume(Effect.succeed(answer.result))
    }
    const broke = (cause: unknown): void => {
      stop()
      end(thread)
      const message = `${path}: reading this PDF broke its thread. Export it again, or split it; if that does not help, please report it.`
      resume(
        Effect.fail(new RagError({ stage: "parse", reason: "Internal", message, document: path, cause }))
      )
    }
    const exited = (code: number): void => broke(new Error(`the thread ended with code ${code}`))
    worker.on("message", answered).on("error", broke).on("exit", exited)
    const copy = Uint8Array.from(task.bytes)
    worker.postMessage({ ...task, bytes: copy }, [copy.buffer])
    return Effect.sync(() => {
      stop()
      end(thread)
    })
  }).pipe(
    Effect.timeoutOrElse({
      duration: within,
      orElse: () => {
        const message = `${path}: this PDF was not read within ${Duration.format(Duration.fromInputUnsafe(within))}. Export it again, or split it.`
        return Effect.fail(new RagError({ stage: "parse", reason: "Malformed", message, document: path }))
      }
    }),
    // Waiting for a thread is no fault of the file
    places.withPermits(1)
  )
