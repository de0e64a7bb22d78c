/** An upload whose files that take long go on as jobs, so that no request stays open for them. */
import type { RagError, Upload } from "@sluice/rag"
import { OnParsed } from "@sluice/rag/store"
import { Duration, Effect, Stream } from "effect"
import type { FailedFile, IngestStreamEvent, Job } from "../contract/Documents.ts"
import { failedDocument } from "../libraries/IngestBody.ts"

/** Looks at what is left, within the time that parsing may take. */
const LOOKS = 4

interface SlowFilesOptions<E> {
  readonly eventsOf: (files: Stream.Stream<Upload, RagError>) => Stream.Stream<IngestStreamEvent, RagError>
  /** Seconds that parsing may take, once all files are received. */
  readonly after: number
  /** Files that were rejected before the library read them. */
  readonly rejected: ReadonlyArray<FailedFile>
  readonly submit: (files: Stream.Stream<Upload, RagError>) => Effect.Effect<Job | undefined, E>
}

/**
 * The events of the files. When none but files that take long to parse are left, each becomes a job, and the events end. Files
 * that are parsed are not: their texts are embedded together.
 *
 * **Details.** The files are received while others are read, so that the memory holds all of them.
 */
export const slowFilesAsJobs = <E>(
  files: Stream.Stream<Upload, RagError>,
  { after, eventsOf, rejected, submit }: SlowFilesOptions<E>
): Stream.Stream<IngestStreamEvent, RagError | E> =>
  Stream.suspend(() => {
    const unread = new Map<string, Upload>()
    const parsed = new Set<string>()
    let isReceived = false
    const received = files.pipe(
      Stream.tap((file) => Effect.sync(() => unread.set(file.path, file))),
      Stream.onEnd(Effect.sync(() => (isReceived = true))),
      Stream.buffer({ capacity: "unbounded" })
    )
    const onlyParses = () =>
      isReceived && unread.size > 0 && ![...unread.keys()].some((path) => parsed.has(path))
    /** Keep the time from running out before. */
    const looks = Stream.tick(Duration.seconds(after / LOOKS)).pipe(
      Stream.filter(() => !onlyParses()),
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
      Stream.provideService(OnParsed, (path) => parsed.add(path)),
      // The pages of a scan are told by its job.
      Stream.filter(({ type }) => type !== "pages"),
      Stream.tap((event) => Effect.sync(() => event.type === "document" && unread.delete(event.path))),
      Stream.merge(looks, { haltStrategy: "left" }),
      Stream.timeoutOrElse({ duration: Duration.seconds(after), orElse: () => jobs }),
      Stream.filter((event) => event !== undefined)
    )
  })
