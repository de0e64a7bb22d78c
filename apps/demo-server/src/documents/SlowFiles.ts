/** An upload whose files that take long go on as jobs, so that no request stays open for them. */
import type { RagError, Upload } from "@sluice/rag"
import { type Duration, Effect, Stream } from "effect"
import type { FailedFile, IngestStreamEvent, Job } from "../contract/Documents.ts"
import { failedDocument } from "../libraries/IngestBody.ts"

/** How often it is looked whether the upload is received. */
const LOOK = "200 millis"

interface SlowFilesOptions<E> {
  readonly eventsOf: (files: Stream.Stream<Upload, RagError>) => Stream.Stream<IngestStreamEvent, RagError>
  /** How long after the last event, once all files are received. */
  readonly after: Duration.Input
  /** Files that were rejected before the library read them. */
  readonly rejected: ReadonlyArray<FailedFile>
  readonly submit: (files: Stream.Stream<Upload, RagError>) => Effect.Effect<Job | undefined, E>
}

/**
 * The events of the files. When none has come for a while, each file that is not read becomes a job, and the events end.
 *
 * **Details.** The files are received while others are read, so that the memory holds all of them.
 */
export const slowFilesAsJobs = <E>(
  files: Stream.Stream<Upload, RagError>,
  { after, eventsOf, rejected, submit }: SlowFilesOptions<E>
): Stream.Stream<IngestStreamEvent, RagError | E> =>
  Stream.suspend(() => {
    const unread = new Map<string, Upload>()
    let isReceived = false
    const received = files.pipe(
      Stream.tap((file) => Effect.sync(() => unread.set(file.path, file))),
      Stream.onEnd(Effect.sync(() => (isReceived = true))),
      Stream.buffer({ capacity: "unbounded" })
    )
    /** Keep the time from running out while files are to come, and once all are read. */
    const looks = Stream.tick(LOOK).pipe(
      Stream.filter(() => !isReceived || unread.size === 0),
      Stream.map(() => undefined)
    )
    const jobOf = Effect.fnUntraced(function* (file: Upload) {
      const job = yield* submit(Stream.make(file))
      return job === undefined ? undefined : ({ type: "job", path: file.path, job } as const)
    })
    const jobs = Stream.suspend(() =>
      Stream.concat(
        Stream.fromIterable(rejected.map(failedDocument)),
        Stream.mapEffect(Stream.fromIterable(unread.values()), jobOf)
      )
    )
    return eventsOf(received).pipe(
      // The pages of a scan are told by its job.
      Stream.filter(({ type }) => type !== "pages"),
      Stream.tap((event) => Effect.sync(() => event.type === "document" && unread.delete(event.path))),
      Stream.merge(looks, { haltStrategy: "left" }),
      Stream.timeoutOrElse({ duration: after, orElse: () => jobs }),
      Stream.filter((event) => event !== undefined)
    )
  })
