/** Runs jobs. Each runs at one server or worker at a time. */
import { Failure } from "@sluice/core/contract"
import { WorkerUser } from "@sluice/core/workers"
import { RagError } from "@sluice/rag"
import { Effect, Layer, Schedule, Stream } from "effect"
import type { SqlError } from "effect/sql"
import { CurrentCaller } from "../accounts/Caller.ts"
import { ServerConfig } from "../config/ServerConfig.ts"
import type { IngestStreamEvent } from "../contract/Documents.ts"
import { DEFAULT_COLLECTION } from "../contract/Names.ts"
import { toStreamEvents } from "../libraries/IngestBody.ts"
import { ragFailure } from "../libraries/RagFailure.ts"
import { UserLibraries } from "../libraries/UserLibraries.ts"
import { makeCollectionAccess } from "../sharing/CollectionAccess.ts"
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

const errorOf = (error: RagError | Failure): JobResult => {
  const { code, message } = (error instanceof RagError ? ragFailure(error) : error).body.error
  return { error: { code: String(code ?? "failed"), message } }
}

const filesLost = new RagError({
  stage: "ingest",
  reason: "Store",
  message: "A file of the upload is no longer stored. Send it again"
})

const makeRunner = Effect.gen(function* () {
  const jobs = yield* Jobs
  const libraries = yield* UserLibraries
  const callerOf = yield* makeCallerOf
  const accessTo = yield* makeCollectionAccess
  const { jobs: concurrency } = (yield* ServerConfig).operation

  const eventsOf = (job: JobRow): Stream.Stream<IngestStreamEvent, RagError | Failure> =>
    Stream.unwrap(
      Effect.gen(function* () {
        if (job.kind === "rebuild") return (yield* libraries.of(job.user_id)).rebuild
        const reference = job.collection ?? DEFAULT_COLLECTION
        const { isShared, name, owner } = yield* accessTo(job.user_id, reference, "write")
        const { library } = yield* (yield* libraries.of(owner)).collection(name, !isShared)
        const files = jobs.read(job.files).pipe(
          Stream.mapError(() => filesLost),
          Stream.mapEffect((file) => (file === undefined ? Effect.fail(filesLost) : Effect.succeed(file)))
        )
        const { ingestEvents } = yield* library
        return Stream.flatMap(ingestEvents({ files }), (event) => Stream.fromIterable(toStreamEvents(event)))
      })
    )

  /** Runs a job until it ends or is cancelled. */
  const work = Effect.fn("JobRunner.work")(function* (job: JobRow) {
    const caller = yield* callerOf(job.caller)
    let progress = { ...job.progress, done: 0, passages: 0 }
    let result: JobResult = {}
    const note = (event: IngestStreamEvent) => {
      if (event.type === "found") progress = { ...progress, files: (progress.files ?? 0) + event.files }
      if (event.type === "document") progress = { ...progress, done: progress.done + 1 }
      if (event.type === "committed") progress = { ...progress, passages: progress.passages + event.passages }
      if (event.type === "done") result = { report: event.report }
    }
    const run = Stream.runForEach(eventsOf(job), (event) => Effect.sync(() => note(event)))
    const watch = Effect.suspend(() => jobs.table.beat(job.id, progress)).pipe(
      // The database may be away for a while; the work goes on.
      Effect.orElseSucceed(() => true),
      Effect.repeat({ schedule: Schedule.spaced(BEAT), while: (isKept) => isKept }),
      Effect.as(cancelled)
    )
    const ended = yield* Effect.raceFirst(run, watch).pipe(
      Effect.provideService(CurrentCaller, caller),
      Effect.provideService(WorkerUser, job.user_id)
    )
    if (ended !== cancelled) yield* jobs.table.end(job.id, "completed", result, progress)
  })

  const runJob = Effect.fn("JobRunner.run")(function* (id: string, attempts: number) {
    const job = yield* jobs.table.start(id)
    // Ended before: a queue may deliver twice.
    if (job === undefined) return
    yield* work(job).pipe(
      Effect.catchIf(
        (error) => error instanceof RagError || error instanceof Failure,
        (error): Effect.Effect<void, RagError | SqlError.SqlError> =>
          error instanceof RagError && error.reason === "Store" && attempts < STORE_ATTEMPTS
            ? Effect.fail(error)
            : jobs.table.end(id, "failed", errorOf(error))
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
    yield* jobs.discard(job.files)
  })

  const takeJobs = jobs.queue
    .take(({ job }, { attempts }) => runJob(job, attempts))
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

export const JobRunnerLayer = Layer.effectDiscard(makeRunner)
