/**
 * The one pool of threads of a process: work that grows with what a caller sent runs here, beside the thread that answers.
 *
 * Idle threads end. A thread that exceeds a limit is ended, and nothing else with it.
 */
import "../NodeVersion.ts"
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { Worker } from "node:worker_threads"
import { Cause, Context, Data, Effect, type Fiber } from "effect"
import { makeFairQueue } from "./FairQueue.ts"
import type { FromWorker, ToWorker } from "./WorkerMessages.ts"

export { type FairQueue, makeFairQueue } from "./FairQueue.ts"
export type { WorkerContext, WorkerJob, WorkerOutput } from "./WorkerMessages.ts"

/** Two threads keep two cores busy. One user has half of the pool at most. */
const THREADS_PER_USER = Math.max(1, Math.min(2, availableParallelism()))
const THREADS = 2 * THREADS_PER_USER
/** A thread without work ends after this time. */
const IDLE_MILLISECONDS = 20_000
/** The default time limit of a job. */
export const JOB_MILLISECONDS = 60_000
/** Memory of a job, without buffers: a text of 64 MiB with its passages takes half. */
const HEAP_MIB = 1024
const MEMORY_CHECK_MILLISECONDS = 50
/**
 * V8's own limit is higher: it ends the whole process if one allocation, such as an array that grows, exceeds the limit by
 * more than 16 MiB.
 */
const RESOURCES = { maxOldGenerationSizeMb: 3 * HEAP_MIB, maxYoungGenerationSizeMb: 32 }

/** A module beside the importing one, given by its URL: of the source, or of the built package. */
export const moduleBeside = (importer: string, name: string): URL =>
  new URL(`${name}.${importer.endsWith(".ts") ? "ts" : "js"}`, importer)

const entry = moduleBeside(import.meta.url, "./WorkerThread")
const execArgv = entry.href.endsWith(".ts") ? ["--conditions=@sluice/source"] : []

/** The user whose work it is: the pool is shared fairly between users. */
export const WorkerUser = Context.Reference<string>("@sluice/core/WorkerUser", { defaultValue: () => "" })

/** Whether this answers a question of a job. That job waits, so its turn of the pool serves: another might never come. */
const HasTurn = Context.Reference<boolean>("@sluice/core/HasTurn", { defaultValue: () => false })

/** A job that ended without a result. */
export class WorkerStopped extends Data.TaggedError("WorkerStopped")<{
  /** The limit that it exceeded; `missing`: a file of the thread is missing, as in a bundled program. */
  readonly reason: "time" | "memory" | "crash" | "missing"
  /** Completes "the job …". */
  readonly message: string
  /** The last step that it reported. */
  readonly step: unknown
}> {}

export interface WorkerTask {
  /** The module, and the name of the `WorkerJob` that it exports. */
  readonly module: URL
  readonly job: string
  readonly input: unknown
  readonly transfer?: ReadonlyArray<ArrayBuffer>
  /** Time limits in milliseconds: of the job (`JOB_MILLISECONDS` by default), and of each step that it reports. */
  readonly limit?: number
  stepLimit?(step: unknown): number
  /** Answers the questions of the job, within a time limit for all of them together (none by default). */
  answer?(question: unknown): Effect.Effect<unknown>
  readonly answerLimit?: number
}

interface Thread {
  readonly worker: Worker
  idleTimer: NodeJS.Timeout | undefined
  ended: boolean
}

/** Where a job gets its thread, and what becomes of it after the job. */
interface Threads {
  acquire(): Thread
  release(thread: Thread): void
}

const inTurn = makeFairQueue(THREADS, THREADS_PER_USER)
const idle: Array<Thread> = []

/** The jobs that run in the pool of this process, and those that wait for a thread. */
export const jobCounts = inTurn.counts

const terminate = (thread: Thread): void => {
  thread.ended = true
  clearTimeout(thread.idleTimer)
  const at = idle.indexOf(thread)
  if (at !== -1) idle.splice(at, 1)
  void thread.worker.terminate()
}

const startThread = (): Thread => {
  const worker = new Worker(entry, { execArgv, name: "sluice", resourceLimits: RESOURCES })
  const thread: Thread = { worker, idleTimer: undefined, ended: false }
  // Without a listener, an error between two jobs, or of a thread that is being ended, would end the process.
  worker.on("error", () => terminate(thread)).on("exit", () => terminate(thread))
  return thread
}

const pool: Threads = {
  acquire: () => {
    const thread = idle.pop() ?? startThread()
    clearTimeout(thread.idleTimer)
    thread.worker.ref()
    return thread
  },
  // Neither the thread nor its timer keeps the process alive.
  release: (thread) => {
    thread.worker.unref()
    thread.idleTimer = setTimeout(() => terminate(thread), IDLE_MILLISECONDS).unref()
    idle.push(thread)
  }
}

const MISSING = `cannot start: ${fileURLToPath(entry)} or one of its imports is missing. In a bundled program, leave the packages @sluice/* out of it (external); otherwise install them again.`

/** The longest time of `setTimeout`: 24 days. */
const UNLIMITED = 2 ** 31 - 1

/** A clock that ends a job when a time, or that of its present step, has passed. It says which. */
const makeTimer = (limit: number, stop: (message: string) => void, stepLimit?: WorkerTask["stepLimit"]) => {
  let left = limit
  let started = 0
  let timer: NodeJS.Timeout | undefined
  const pause = (): void => {
    if (timer === undefined) return
    clearTimeout(timer)
    timer = undefined
    left -= performance.now() - started
  }
  const start = (step?: unknown): void => {
    pause()
    started = performance.now()
    const ofStep = step === undefined ? Infinity : (stepLimit?.(step) ?? Infinity)
    const seconds = Math.round((ofStep < left ? ofStep : limit) / 100) / 10
    const end = () => stop(`took more than ${seconds} s`)
    timer = setTimeout(end, Math.max(0, Math.min(left, ofStep)))
  }
  return { pause, start }
}

/**
 * Runs a job in a thread. A thread that fails, or exceeds a limit of time or memory, is ended, and the job fails with
 * `WorkerStopped`. Interruption ends the thread. Waiting for a free thread does not count.
 */
export const runInWorker = <A>(task: WorkerTask): Effect.Effect<A, WorkerStopped> =>
  Effect.contextWith((context: Context.Context<never>) => {
    const run = runTask<A>(task, Context.add(context, HasTurn, true), pool)
    return Context.get(context, HasTurn) ? run : inTurn(Context.get(context, WorkerUser), run)
  })

/**
 * A thread outside the pool, for jobs that leave something in it, such as a loaded model. It starts with the first job and
 * ends with the scope. Jobs run one at a time, and users come in turn. An interruption waits for the running job, because
 * its thread must stay. A job that exceeds a limit ends the thread, and the next job starts another.
 */
export const makeOwnThread = Effect.gen(function* () {
  const inTurn = makeFairQueue(1, 1)
  let own: Thread | undefined
  const threads: Threads = {
    acquire: () => {
      if (own === undefined || own.ended) own = startThread()
      own.worker.ref()
      return own
    },
    release: ({ worker }) => worker.unref()
  }
  yield* Effect.addFinalizer(() => Effect.sync(() => own !== undefined && terminate(own)))
  return <A>(task: WorkerTask): Effect.Effect<A, WorkerStopped> =>
    Effect.contextWith((context: Context.Context<never>) =>
      inTurn(Context.get(context, WorkerUser), Effect.uninterruptible(runTask<A>(task, context, threads)))
    )
})

const runTask = <A>(
  task: WorkerTask,
  context: Context.Context<never>,
  threads: Threads
): Effect.Effect<A, WorkerStopped> =>
  Effect.callback<A, WorkerStopped>((resume) => {
    const thread = threads.acquire()
    const { worker } = thread
    let step: unknown
    let answering: Fiber.Fiber<void> | undefined
    let ended = false
    const stopListening = (): void => {
      ended = true
      timer.pause()
      answerTimer.pause()
      clearInterval(memoryTimer)
      worker.off("message", onMessage).off("error", onError).off("exit", onExit)
    }
    const end = (): void => {
      stopListening()
      answering?.interruptUnsafe()
      terminate(thread)
    }
    const fail = (reason: WorkerStopped["reason"], message: string): void => {
      end()
      resume(Effect.fail(new WorkerStopped({ reason, message, step })))
    }
    const outOfMemory = (): void => fail("memory", `took more than ${HEAP_MIB} MiB of memory`)
    const checkMemory = async (): Promise<void> => {
      // It fails if the thread has ended. Deno's threads do not have it.
      const heap = await worker.getHeapStatistics?.().catch(() => undefined)
      if (!ended && heap !== undefined && heap.used_heap_size > HEAP_MIB * 1048576) outOfMemory()
    }
    const memoryTimer = setInterval(() => void checkMemory(), MEMORY_CHECK_MILLISECONDS)
    const failBy = (message: string, code: string | undefined): void => {
      if (code === "ERR_WORKER_OUT_OF_MEMORY") outOfMemory()
      else if (code?.endsWith("MODULE_NOT_FOUND") === true) fail("missing", MISSING)
      else fail("crash", message)
    }
    const { answerLimit = UNLIMITED, limit = JOB_MILLISECONDS } = task
    const timer = makeTimer(limit, (message) => fail("time", message), task.stepLimit)
    const answerTimer = makeTimer(answerLimit, (message) => fail("time", `${message} for what is inside it`))
    const send = (message: ToWorker, transfer: ReadonlyArray<ArrayBuffer> = []): void => {
      worker.postMessage(message, transfer)
      timer.start(step)
    }
    const onMessage = (message: FromWorker): void => {
      if ("step" in message) timer.start((step = message.step))
      else if ("question" in message) {
        timer.pause()
        answerTimer.start()
        const answered = (task.answer?.(message.question) ?? Effect.undefined).pipe(
          Effect.matchCause({
            onSuccess: (answer) => {
              answerTimer.pause()
              send({ answer })
            },
            onFailure: (cause) => fail("crash", Cause.pretty(cause))
          })
        )
        answering = Effect.runForkWith(context)(answered)
      } else if ("thrown" in message) failBy(message.thrown, message.code)
      else {
        stopListening()
        if (message.output.retire === true) terminate(thread)
        else threads.release(thread)
        resume(Effect.succeed(message.output.value as A))
      }
    }
    const onError = (cause: Error & { readonly code?: string }): void => failBy(cause.message, cause.code)
    const onExit = (code: number): void => fail("crash", `ended with code ${code}`)
    worker.on("message", onMessage).on("error", onError).on("exit", onExit)
    send({ module: task.module.href, job: task.job, input: task.input }, task.transfer)
    return Effect.sync(end)
  }).pipe(Effect.withSpan("sluice.worker", { attributes: { job: task.job } }))
