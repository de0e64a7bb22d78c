/** Continues an upload as jobs if parsing takes long, so that no request stays open for it. */
import type { RagError, Upload } from "@sluice/rag"
import { OnParsed } from "@sluice/rag/store"
import { Duration, Effect, Stream } from "effect"
import type { FailedFile, IngestStreamEvent, Job } from "../contract/Documents.ts"
import { failedDocument } from "../libraries/IngestBody.ts"

/** How often it is checked which files are left, within the time that parsing may take. */
const CHECKS = 4

interface SlowFilesOptions<E> {
  readonly eventsOf: (files: Stream.Stream<Upload, RagError>) => Stream.Stream<IngestStreamEvent, RagError>
  /** Seconds that parsing may take, once all files are received. */
  readonly after: number
  /** Files that were rejected before the library read them. */
  readonly rejected: ReadonlyArray<FailedFile>
  readonly submit: (files: Stream.Stream<Upload, RagError>) => Effect.Effect<Job | undefined, E>
}

/**
 * The events of the files. If parsing takes longer than `after`, and no parsed file waits for its embeddings, each file that is left
 * becomes a job, and the events end.
 *
 * **Details.** Files are received while others are parsed, so all of them are in memory.
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
    /** Each of these restarts the time limit: it runs only while all that is left is being parsed. */
    const checks = Stream.tick(Duration.seconds(after / CHECKS)).pipe(
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
      // The job of a scan reports its pages.
      Stream.filter(({ type }) => type !== "pages"),
      Stream.tap((event) => Effect.sync(() => event.type === "document" && unread.delete(event.path))),
      Stream.merge(checks, { haltStrategy: "left" }),
      Stream.timeoutOrElse({ duration: Duration.seconds(after), orElse: () => jobs }),
      Stream.filter((event) => event !== undefined)
    )
  })
