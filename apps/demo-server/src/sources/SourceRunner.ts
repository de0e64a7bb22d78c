/** Works on the runs of sources, each with the rights of who added the source, as they are then. */
import { Failure } from "@sluice/core/contract"
import { RagError } from "@sluice/rag"
import { AdmitParsed } from "@sluice/rag/store"
import { Effect, Layer, Stream } from "effect"
import { ServerConfig } from "../config/ServerConfig.ts"
import { DEFAULT_COLLECTION } from "../contract/Names.ts"
import { makeStorageOf } from "../jobs/Storage.ts"
import { Jobs } from "../jobs/Jobs.ts"
import type { JobRow } from "../jobs/JobTable.ts"
import { type JobEvents, type JobWork, makeJobWork } from "../jobs/JobWork.ts"
import { toStreamEvents } from "../libraries/IngestBody.ts"
import { makeOpenForUser } from "../libraries/OpenForUser.ts"
import { limitStorage } from "./StorageLimit.ts"
import { Sources } from "./Sources.ts"

/** Sources that a server reads at the same time: most of the time they wait for their hosts. */
const RUNS = 8

/** Nobody has the rights any more that the source was added with, or its collection is gone. */
const isRevoked = (error: RagError | Failure): boolean =>
  error instanceof Failure
    ? error.status === 401 || error.status === 403
    : error.reason === "NotFound" && error.document === "collection"

const makeRunner = Effect.gen(function* () {
  const jobs = yield* Jobs
  const { reading, store } = yield* Sources
  const openForUser = yield* makeOpenForUser
  const storageOf = yield* makeStorageOf
  const runJobs = yield* makeJobWork
  const { jobs: concurrency } = (yield* ServerConfig).operation

  const eventsOf = ({ collection, source, user_id }: JobRow): JobEvents =>
    Stream.unwrap(
      Effect.gen(function* () {
        const row = source === null ? undefined : yield* store.get(source.id)
        if (row === undefined || source === null) return Stream.empty
        const reference = collection ?? DEFAULT_COLLECTION
        const { library, owner } = yield* openForUser(user_id, reference, "write")
        const storage = yield* storageOf(owner)
        const content = yield* reading.open(row)
        const { admit, fits } = limitStorage(storage.left())
        const { paths } = source
        const items =
          paths === undefined
            ? content.items
            : Stream.fromIterableEffect(content.itemsAt?.(paths) ?? Effect.succeed([]))
        return (yield* library)
          .syncEvents(row.id, Stream.map(items, fits), { partial: paths !== undefined })
          .pipe(
            Stream.provideService(AdmitParsed, admit),
            Stream.mapError((error) => (error instanceof RagError ? error : reading.unreadable(error))),
            Stream.flatMap((event) => Stream.fromIterable(toStreamEvents(event)))
          )
      })
    )

  const work: JobWork = {
    eventsOf,
    onFailure: ({ source }, error) =>
      source !== null && isRevoked(error) ? Effect.asVoid(store.stop(source.id, error.message)) : Effect.void,
    onEnded: ({ collection, id, source, user_id }) =>
      Effect.gen(function* () {
        if (source === null || (yield* store.changed(source, id))) return
        // The source was removed while it was read.
        const { library } = yield* openForUser(user_id, collection ?? DEFAULT_COLLECTION, "write")
        yield* (yield* library).sync(source.id, Stream.empty)
      }).pipe(Effect.ignore)
  }
  for (const queue of [jobs.sourceQueue, jobs.changeQueue])
    yield* runJobs(queue, concurrency === 0 ? 0 : RUNS, work)
})

export const SourceRunnerLayer = Layer.effectDiscard(makeRunner)
