/** PDFs, read in a thread of their own so that the program goes on meanwhile. */
import { Worker } from "node:worker_threads"
import { Effect, Semaphore } from "effect"
import { RagError } from "../../RagError.ts"
import type { WorkerAnswer } from "./PdfWorker.ts"

/** PDFium's memory never shrinks: a thread that holds more is replaced after its file. */
const RECYCLE_HEAP_BYTES = 192 * 1024 * 1024
/** A thread without work is ended after this time, and its memory with it. */
const IDLE_MILLISECONDS = 10_000
/** A file that takes longer (thousands of pages take one minute) holds PDFium in a loop. */
const FILE_TIMEOUT = "5 minutes"

/** Started by the first PDF; the same file as source and as built. */
const entry = new URL(import.meta.url.endsWith(".ts") ? "./PdfWorker.ts" : "./PdfWorker.js", import.meta.url)

const oneAtATime = Semaphore.makeUnsafe(1)
let thread: Worker | undefined
let idle: NodeJS.Timeout | undefined

const end = (): void => {
  clearTimeout(idle)
  void thread?.terminate()
  thread = undefined
}

const begin = (): Worker => {
  clearTimeout(idle)
  thread ??= new Worker(entry, { execArgv: [], name: "sluice-pdf" })
  thread.ref()
  return thread
}

/** Neither the thread nor its timer keeps the process alive. */
const rest = (worker: Worker): void => {
  worker.unref()
  idle = setTimeout(end, IDLE_MILLISECONDS).unref()
}

const ask = (path: string, bytes: Uint8Array): Effect.Effect<WorkerAnswer["result"], RagError> =>
  Effect.callback((resume) => {
    const worker = begin()
    const stop = (): void => {
      worker.off("message", answered).off("error", broke).off("exit", exited)
    }
    const answered = (answer: WorkerAnswer): void => {
      stop()
      if (answer.heapBytes > RECYCLE_HEAP_BYTES) end()
      else rest(worker)
      resume(Effect.succeed(answer.result))
    }
    const broke = (cause: unknown): void => {
      stop()
      end()
      const message = `${path}: reading this PDF broke its thread. Export it again; if that does not help, please report it.`
      resume(
        Effect.fail(new RagError({ stage: "parse", reason: "Internal", message, document: path, cause }))
      )
    }
    const exited = (code: number): void => broke(new Error(`the thread ended with code ${code}`))
    worker.on("message", answered).on("error", broke).on("exit", exited)
    const copy = Uint8Array.from(bytes)
    worker.postMessage(copy, [copy.buffer])
    return Effect.sync(() => {
      stop()
      end()
    })
  })

/**
 * Reads a PDF: text in reading order, pages, lines with their boxes.
 *
 * Fails with `Encrypted`, `Malformed` (damaged, cut short), `UnsupportedFormat` (scanned: no text) or `Empty`. A page
 * that cannot be read is left empty and logged. Interruption ends the thread.
 */
export const parsePdf = Effect.fn("parsePdf")(function* (path: string, bytes: Uint8Array) {
  const result = yield* ask(path, bytes).pipe(
    Effect.timeoutOrElse({
      duration: FILE_TIMEOUT,
      orElse: () =>
        Effect.fail(
          new RagError({
            stage: "parse",
            reason: "Malformed",
            message: `${path}: this PDF was not read within ${FILE_TIMEOUT}. Export it again, or split it.`,
            document: path
          })
        )
    }),
    oneAtATime.withPermits(1)
  )
  if ("reason" in result) {
    const { message, reason } = result
    return yield* new RagError({ stage: "parse", reason, message: `${path}: ${message}`, document: path })
  }
  if (result.failedPages.length > 0) {
    yield* Effect.logWarning(
      `${path}: pages ${result.failedPages.join(", ")} cannot be read and are left out`
    )
  }
  return result.parsed
})
