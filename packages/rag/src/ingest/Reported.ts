/** The events of an ingest, from how much was found to what was done. */
import { Effect, Stream } from "effect"
import { failedEvent } from "./DocumentEvent.ts"
import type { IngestEvent, IngestFailure, IngestReport } from "./IngestReport.ts"
import type { RagError } from "../document/RagError.ts"

/** An ingest as it is told: `found`, what is written, what the end brings, and the report. */
export const reported = (
  found: number | undefined,
  written: Stream.Stream<IngestEvent, RagError>,
  end: Effect.Effect<ReadonlyArray<IngestEvent>, RagError>,
  failed: ReadonlyArray<IngestFailure>
): Stream.Stream<IngestEvent, RagError> =>
  Stream.suspend(() => {
    const counts = { added: 0, replaced: 0, unchanged: 0, removed: 0, failed: 0 }
    const failures: Array<IngestFailure> = []
    let passages = 0
    let faulty = 0
    const first: ReadonlyArray<IngestEvent> = [
      ...(found === undefined ? [] : [{ type: "found", files: found } as const]),
      ...failed.map(({ error, path }) => failedEvent(path, error))
    ]
    return Stream.fromIterable(first).pipe(
      Stream.concat(written),
      Stream.concat(Stream.fromIterableEffect(end)),
      Stream.tap((event) =>
        Effect.sync(() => {
          if (event.type === "committed") passages += event.passages
          if (event.type !== "document") return
          counts[event.status]++
          if ((event.status === "added" || event.status === "replaced") && event.faults !== undefined)
            faulty++
          if (event.status === "failed") failures.push({ path: event.path, error: event.error })
        })
      ),
      Stream.concat(
        Stream.sync((): IngestEvent => {
          const { added, removed, replaced, unchanged } = counts
          const report: IngestReport = {
            added,
            replaced,
            unchanged,
            removed,
            faulty,
            passages,
            failed: failures
          }
          return { type: "done", report }
        })
      )
    )
  })
