/** Works on the jobs of a queue. Each runs at one server or worker at a time, and again after that one was killed. */
import { Failure } from "@sluice/core/contract"
import { WorkerUser } from "@sluice/core/workers"
import { RagError } from "@sluice/rag"
import { Effect, Schedule, Stream } from "effect"
import type { SqlError } from "effect/sql"
import { CurrentCaller } from "../accounts/Caller.ts"
import type { IngestReportBody, IngestStreamEvent } from "../contract/Documents.ts"
import { MAX_CHANGES, type SourceChange } from "../contract/Sources.ts"
import { ragFailure } from "../libraries/RagFailure.ts"
import { makeCallerOf } from "./JobCaller.ts"
import { Jobs } from "./Jobs.ts"
import type { JobResult, JobRow } from "./JobTable.ts"

/** How often a running job stores its progress, and notices that it was cancelled. */
const BEAT = "1 second"

/** How long a worker waits after a failure, such as of the database. */
const AFTER_FAILURE = "1 second"

const cancelled = "cancelled"

/** A store that fails is tried again: an object store may be out of reach. */
const STORE_ATTEMPTS = 3

/** Files that failed, of one job. Lists of jobs have all of them. */
const MAX_FAILED = 100

/** A report with the first failures, and how many more there are. */
const shortened = (report: IngestReportBody): IngestReportBody => {
  const unlisted = report.failed.length - MAX_FAILED
  return unlisted <= 0 ? report : { ...report, failed: report.failed.slice(0, MAX_FAILED), unlisted }
}

const errorOf = (error: RagError | Failure): JobResult => {
  const { code, message } = (error instanceof RagError ? ragFailure(error) : error).body.error
  return { error: { code: String(code ?? "failed"), message } }
}

export type JobEvents = Stream.Stream<IngestStreamEvent, RagError | Failure>

/** A kind of job. */
export interface JobWork {
  readonly eventsOf: (job: JobRow) => JobEvents
  /** Called before the job is recorded as failed. */
  readonly onFailure?: (job: JobRow, error: RagError | Failure) => Effect.Effect<void, SqlError.SqlError>
  /** Called once a job has ended, in whatever way. */
  readonly onEnded?: (job: JobRow) => Effect.Effect<void>
}

/** Counts the events of a job. */
const makeCounts = ({ kind, progress }: JobRow) => {
  const changes: Array<SourceChange> = []
  // An upload has its number of files from the start. What an earlier attempt found is found again.
  const found: Partial<typeof progress> = kind === "ingest" ? progress : {}
  const counts = { progress: { ...found, done: 0, passages: 0 }, result: (): JobResult => result }
  let result: JobResult = {}
  const note = (event: IngestStreamEvent): void => {
    const { progress } = counts
    if (event.type === "found") counts.progress = { ...progress, files: (progress.files ?? 0) + event.files }
    if (event.type === "pages") {
      const { done, pages, path } = event
      counts.progress = { ...progress, reading: { path, done, pages } }
    }
    if (event.type === "document") {
      const { path, status } = event
      const { reading, ...others } = progress
      const isOther = reading !== undefined && reading.path !== path
      counts.progress = { ...others, done: progress.done + 1, ...(isOther && { reading }) }
      if (status !== "unchanged" && status !== "failed" && changes.length < MAX_CHANGES)
        changes.push({ path, status })
    }
    if (event.type === "committed")
      counts.progress = { ...progress, passages: progress.passages + event.passages }
    if (event.type === "done")
      result = { report: shortened(event.report), ...(kind === "sync" && { changes }) }
  }
  return { counts, note }
}

export const makeJobWork = Effect.gen(function* () {
  const jobs = yield* Jobs
  const callerOf = yield* makeCallerOf

  /** Runs a job until it ends or is cancelled. */
  const work = Effect.fn("JobWork.work")(function* (job: JobRow, { eventsOf }: JobWork) {
    const caller = yield* callerOf(job.caller)
    const { counts, note } = makeCounts(job)
    const run = Stream.runForEach(eventsOf(job), (event) => Effect.sync(() => note(event)))
    const watch = Effect.suspend(() => jobs.table.beat(job.id, counts.progress)).pipe(
      // The database may be away for a while; the work goes on.
      Effect.orElseSucceed(() => true),
      Effect.repeat({ schedule: Schedule.spaced(BEAT), while: (isKept) => isKept }),
      Effect.as(cancelled)
    )
    const ended = yield* Effect.raceFirst(run, watch).pipe(
      Effect.provideService(CurrentCaller, caller),
      Effect.provideService(WorkerUser, job.user_id)
    )
    if (ended !== cancelled) yield* jobs.table.end(job.id, "completed", counts.result(), counts.progress)
  })

  const runJob = Effect.fn("JobWork.run")(function* (id: string, attempts: number, kind: JobWork) {
    const job = yield* jobs.table.start(id)
    // Ended before: a queue may deliver twice.
    if (job === undefined) return
    yield* work(job, kind).pipe(
      Effect.catchIf(
        (error) => error instanceof RagError || error instanceof Failure,
        (error): Effect.Effect<void, RagError | SqlError.SqlError> =>
          error instanceof RagError && error.reason === "Store" && attempts < STORE_ATTEMPTS
            ? Effect.fail(error)
            : Effect.andThen(
                kind.onFailure?.(job, error) ?? Effect.void,
                jobs.table.end(id, "failed", errorOf(error))
              )
      ),
      Effect.onError(() =>
        attempts >= jobs.attempts
          ? Effect.ignore(
              jobs.table.end(id, "failed", {
                error: { code: "internal", message: "The job failed. The server's log says why" }
              })
            )
          : Effect.void
      )
    )
    yield* kind.onEnded?.(job) ?? Effect.void
    yield* jobs.discard(job.files)
  })

  /** Works on the jobs of a queue, so many at a time, until the scope ends. */
  return Effect.fnUntraced(function* (queue: Jobs["Service"]["queue"], concurrency: number, kind: JobWork) {
    const takeJobs = queue
      .take(({ job }, { attempts }) => runJob(job, attempts, kind))
      .pipe(
        Effect.catchCause((cause) =>
          Effect.andThen(
            Effect.logWarning("A job failed, and will be tried again", cause),
            Effect.sleep(AFTER_FAILURE)
          )
        ),
        Effect.forever
      )
    for (let n = 0; n < concurrency; n++) yield* Effect.forkScoped(takeJobs)
  })
})
