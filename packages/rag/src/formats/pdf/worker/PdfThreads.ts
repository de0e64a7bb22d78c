/** A pool of threads that run PDFium. Idle threads end; threads that hold too much memory are replaced. */
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { Worker } from "node:worker_threads"
import { Effect, Semaphore } from "effect"
import type { PdfProgress, PdfReply, PdfResult, PdfTask } from "./PdfTask.ts"
import type { PdfFault } from "../page/Run.ts"

/** Two threads keep two cores busy; each more would hold another PDFium. */
const THREADS = Math.max(1, Math.min(2, availableParallelism()))
/** PDFium's memory never shrinks: a thread that holds more is replaced after its file. */
const MAX_HEAP_BYTES = 192 * 1024 * 1024
/** A thread without work ends after this time. */
const IDLE_MILLISECONDS = 10_000
/** Memory of a thread besides PDFium's: pages of 10,000 lines and their text. */
const RESOURCES = { maxOldGenerationSizeMb: 384, maxYoungGenerationSizeMb: 16 }

/** The same file in the source and in the built package. */
const entry = new URL(import.meta.url.endsWith(".ts") ? "./PdfThread.ts" : "./PdfThread.js", import.meta.url)

/** The thread's files are missing, as in a bundled program. The PDF is not at fault. */
const NO_THREAD: PdfFault = {
  reason: "Internal",
  message: `the thread that reads PDFs cannot start: ${fileURLToPath(entry)} or one of its imports is missing. In a bundled program, leave @sluice/rag out of it (external); otherwise install the package again.`
}

interface Thread {
  readonly worker: Worker
  idleTimer: NodeJS.Timeout | undefined
}

const permits = Semaphore.makeUnsafe(THREADS)
const idle: Array<Thread> = []

const terminate = (thread: Thread): void => {
  clearTimeout(thread.idleTimer)
  const at = idle.indexOf(thread)
  if (at !== -1) idle.splice(at, 1)
  void thread.worker.terminate()
}

const acquire = (): Thread => {
  const thread = idle.pop() ?? {
    worker: new Worker(entry, { execArgv: [], name: "sluice-pdf", resourceLimits: RESOURCES }),
    idleTimer: undefined
  }
  clearTimeout(thread.idleTimer)
  thread.worker.ref()
  return thread
}

/** Returns a thread to the pool. Neither it nor its timer keeps the process alive. */
const release = (thread: Thread): void => {
  thread.worker.unref()
  thread.idleTimer = setTimeout(() => terminate(thread), IDLE_MILLISECONDS).unref()
  idle.push(thread)
}

/** Time limits of a task, in milliseconds. */
export interface TimeLimits {
  readonly page: number
  readonly file: number
}

/**
 * Runs a task in a thread. A thread that crashes, or works for longer than `limits`, is terminated, and the page that it was
 * working on is returned as `stopped`. Interruption terminates the thread. Waiting for a free thread does not count.
 */
export const runInThread = (path: string, task: PdfTask, limits: TimeLimits): Effect.Effect<PdfResult> =>
  Effect.callback<PdfResult>((resume) => {
    const thread = acquire()
    const { worker } = thread
    let progress: PdfProgress = { page: 0 }
    const started = performance.now()
    const stopListening = (): void => {
      clearTimeout(timer)
      worker.off("message", onMessage).off("error", onError).off("exit", onExit)
    }
    const fail = (result: PdfResult): void => {
      stopListening()
      terminate(thread)
      resume(Effect.succeed(result))
    }
    const stop = (why: string): void =>
      fail({ stopped: progress.page, why, drawing: progress.drawing ?? false })
    const startTimer = (): NodeJS.Timeout => {
      const left = Math.max(0, started + limits.file - performance.now())
      const limit = progress.page === 0 ? left : Math.min(limits.page, left)
      return setTimeout(() => stop("took too long"), limit)
    }
    let timer = startTimer()
    const onMessage = (message: PdfReply | PdfProgress): void => {
      if ("page" in message) {
        progress = message
        clearTimeout(timer)
        timer = startTimer()
      } else if ("stopped" in message.result) {
        fail({ ...message.result, drawing: progress.drawing ?? false })
      } else {
        stopListening()
        if (message.heapBytes > MAX_HEAP_BYTES) terminate(thread)
        else release(thread)
        resume(Effect.succeed(message.result))
      }
    }
    const onError = (cause: Error & { readonly code?: string }): void =>
      cause.code?.endsWith("MODULE_NOT_FOUND") === true ? fail(NO_THREAD) : stop(cause.message)
    const onExit = (code: number): void => stop(`the thread ended with code ${code}`)
    worker.on("message", onMessage).on("error", onError).on("exit", onExit)
    const copy = Uint8Array.from(task.bytes)
    worker.postMessage({ ...task, bytes: copy }, [copy.buffer])
    return Effect.sync(() => {
      stopListening()
      terminate(thread)
    })
  }).pipe(permits.withPermits(1), Effect.withSpan("sluice.pdf", { attributes: { path, kind: task.kind } }))
