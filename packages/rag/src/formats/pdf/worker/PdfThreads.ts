/** Threads in which PDFium works: as many as there are cores to spare, ended when idle, replaced when they hold too much. */
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { Worker } from "node:worker_threads"
import { Effect, Semaphore } from "effect"
import type { PdfAnswer, PdfProgress, PdfResult, PdfTask } from "./PdfTask.ts"
import type { PdfFault } from "../page/Run.ts"

/** Two threads read as fast as two cores allow; more would hold a PDFium each for little. */
const THREADS = Math.max(1, Math.min(2, availableParallelism()))
/** PDFium's memory never shrinks: a thread that holds more is replaced after its file. */
const RECYCLE_HEAP_BYTES = 192 * 1024 * 1024
/** A thread without work is ended after this time, and its memory with it. */
const IDLE_MILLISECONDS = 10_000
/** What a thread may hold besides PDFium's memory: pages of 10,000 lines and their text. */
const RESOURCES = { maxOldGenerationSizeMb: 384, maxYoungGenerationSizeMb: 16 }

/** Started by the first PDF; the same file as source and as built. */
const entry = new URL(import.meta.url.endsWith(".ts") ? "./PdfThread.ts" : "./PdfThread.js", import.meta.url)

/** As in a program that was bundled: the file is well. */
const NO_THREAD: PdfFault = {
  reason: "Internal",
  message: `the thread that reads PDFs does not start, since ${fileURLToPath(entry)} or what it imports is not there. Where the program is a bundle, leave @sluice/rag out of it (external); else install the package again.`
}

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

/** How long a thread may work. */
export interface TimeLimits {
  /** On one page; milliseconds. */
  readonly page: number
  /** In all; milliseconds. */
  readonly file: number
}

/**
 * Does one task in one of the threads. A thread that works for longer than allowed, or breaks (memory), is ended, and
 * the next task gets a new one; what it was at comes back as `stopped`. So does interruption end it. Waiting for a free
 * thread does not count.
 */
export const inThread = (path: string, task: PdfTask, limits: TimeLimits): Effect.Effect<PdfResult> =>
  Effect.callback<PdfResult>((resume) => {
    const thread = begin()
    const { worker } = thread
    let at = 0
    let drawing = false
    const started = performance.now()
    const stop = (): void => {
      clearTimeout(timer)
      worker.off("message", told).off("error", broke).off("exit", exited)
    }
    const give = (why: string, where: number): void => {
      stop()
      end(thread)
      resume(Effect.succeed({ stopped: where, why, drawing }))
    }
    const late = (): void => give("took too long", at)
    const arm = (): NodeJS.Timeout => {
      const left = Math.max(0, started + limits.file - performance.now())
      return setTimeout(late, at === 0 ? left : Math.min(limits.page, left))
    }
    let timer = arm()
    const told = (message: PdfAnswer | PdfProgress): void => {
      if ("page" in message) {
        at = message.page
        drawing = message.drawing ?? false
        clearTimeout(timer)
        timer = arm()
        return
      }
      if ("stopped" in message.result) {
        give(message.result.why, message.result.stopped)
        return
      }
      stop()
      if (message.heapBytes > RECYCLE_HEAP_BYTES) end(thread)
      else rest(thread)
      resume(Effect.succeed(message.result))
    }
    const broke = (cause: Error & { readonly code?: string }): void => {
      if (cause.code?.endsWith("MODULE_NOT_FOUND") !== true) return give(cause.message, at)
      stop()
      end(thread)
      resume(Effect.succeed(NO_THREAD))
    }
    const exited = (code: number): void => give(`the thread ended with code ${code}`, at)
    worker.on("message", told).on("error", broke).on("exit", exited)
    const copy = Uint8Array.from(task.bytes)
    worker.postMessage({ ...task, bytes: copy }, [copy.buffer])
    return Effect.sync(() => {
      stop()
      end(thread)
    })
  }).pipe(places.withPermits(1), Effect.withSpan("sluice.pdf", { attributes: { path, kind: task.kind } }))
