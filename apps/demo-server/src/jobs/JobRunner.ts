/** Runs uploads and rebuilds. */
import { RagError } from "@sluice/rag"
import { AdmitParsed } from "@sluice/rag/store"
import { Effect, Layer, Stream } from "effect"
import { ServerConfig } from "../config/ServerConfig.ts"
import { DEFAULT_COLLECTION } from "../contract/Names.ts"
import { toStreamEvents } from "../libraries/IngestBody.ts"
import { makeOpenForUser } from "../libraries/OpenForUser.ts"
import { UserLibraries } from "../libraries/UserLibraries.ts"
import { Jobs } from "./Jobs.ts"
import type { JobRow } from "./JobTable.ts"
import { type JobEvents, makeJobWork } from "./JobWork.ts"
import { makeStorageOf } from "./Storage.ts"

/** Uploads of one file at the same time. Each holds its file alone; the threads that parse take users in turn. */
const FILES = 32

const filesLost = new RagError({
  stage: "ingest",
  reason: "Store",
  message: "A file of the upload is no longer stored. Send it again"
})

const makeRunner = Effect.gen(function* () {
  const jobs = yield* Jobs
  const libraries = yield* UserLibraries
  const openForUser = yield* makeOpenForUser
  const runJobs = yield* makeJobWork
  const storageOf = yield* makeStorageOf
  const { jobs: concurrency } = (yield* ServerConfig).operation

  const eventsOf = (job: JobRow): JobEvents =>
    Stream.unwrap(
      Effect.gen(function* () {
        if (job.kind === "rebuild") return (yield* libraries.of(job.user_id)).rebuild
        const reference = job.collection ?? DEFAULT_COLLECTION
        const { library, owner } = yield* openForUser(job.user_id, reference, "write", true)
        const storage = yield* storageOf(owner)
        const files = jobs.read(job.files).pipe(
          Stream.mapError(() => filesLost),
          Stream.mapEffect((file) => (file === undefined ? Effect.fail(filesLost) : Effect.succeed(file)))
        )
        const { ingestEvents } = yield* library
        return ingestEvents({ files }).pipe(
          Stream.flatMap((event) => Stream.fromIterable(toStreamEvents(event))),
          Stream.provideService(AdmitParsed, storage.admit),
          Stream.ensuring(storage.release)
        )
      })
    )

  yield* runJobs(jobs.queue, concurrency, { eventsOf })
  yield* runJobs(jobs.fileQueue, concurrency === 0 ? 0 : FILES, { eventsOf })
})

export const JobRunnerLayer = Layer.effectDiscard(makeRunner)
