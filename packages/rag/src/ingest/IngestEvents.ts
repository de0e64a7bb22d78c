/** The events and the report of an ingest. */
import { Effect, Stream } from "effect"
import type { DocumentInfo, ReadFault } from "../document/Document.ts"
import type { RagError } from "../document/RagError.ts"
import type { IngestFailure } from "./sources/Source.ts"

/** The outcome for one file. If a file fails, its old version stays. */
export type IngestStatus = "added" | "replaced" | "unchanged" | "removed" | "failed"

/** Counts of documents, except `passages`. */
export interface IngestReport {
  readonly added: number
  readonly replaced: number
  readonly unchanged: number
  readonly removed: number
  /** Documents added or replaced of which a part could not be read; see their `faults`. */
  readonly faulty: number
  /** Passages written. */
  readonly passages: number
  readonly failed: ReadonlyArray<IngestFailure>
}

/** Progress of an ingest. A `document` event is emitted once the document is on disk; `done` is the last event. */
export type IngestEvent =
  /** The number of files to look at. Not emitted for a stream of uploads. */
  | { readonly type: "found"; readonly files: number }
  | {
      readonly type: "document"
      readonly path: string
      /** 32 hexadecimal digits. */
      readonly id?: string
      readonly status: Exclude<IngestStatus, "failed">
      readonly passages: number
      /** Pages and pictures that could not be read. Absent if there are none. */
      readonly faults?: ReadonlyArray<ReadFault>
    }
  | {
      readonly type: "document"
      readonly path: string
      readonly status: "failed"
      readonly passages: 0
      readonly error: RagError
    }
  /** Pages of a scan were read: `done` of `pages`. The `document` event follows. */
  | { readonly type: "pages"; readonly path: string; readonly done: number; readonly pages: number }
  /** One commit is on disk. A crash loses nothing before it. */
  | { readonly type: "committed"; readonly documents: number; readonly passages: number }
  | { readonly type: "done"; readonly report: IngestReport }

/** The event of a document that was written, removed, or found unchanged. */
export const documentEvent = (
  { faults, id, passages, path }: DocumentInfo,
  status: Exclude<IngestStatus, "failed">
): IngestEvent => ({
  type: "document",
  path,
  id,
  status,
  passages,
  ...(faults === undefined || status === "removed" ? {} : { faults })
})

export const failedEvent = (path: string, error: RagError): IngestEvent => ({
  type: "document",
  path,
  status: "failed",
  passages: 0,
  error
})

/** Puts `found` and the files that could not be listed first, then `written` and `end`, and the report last. */
export const withReport = <E, R>(
  found: number | undefined,
  written: Stream.Stream<IngestEvent, E, R>,
  end: Effect.Effect<ReadonlyArray<IngestEvent>, RagError>,
  failed: ReadonlyArray<IngestFailure> = []
): Stream.Stream<IngestEvent, E | RagError, R> =>
  Stream.suspend(() => {
    const counts = { added: 0, replaced: 0, unchanged: 0, removed: 0, faulty: 0, passages: 0 }
    const failures: Array<IngestFailure> = []
    const first: ReadonlyArray<IngestEvent> = [
      ...(found === undefined ? [] : [{ type: "found", files: found } as const]),
      ...failed.map(({ error, path }) => failedEvent(path, error))
    ]
    const count = (event: IngestEvent): void => {
      if (event.type === "committed") counts.passages += event.passages
      if (event.type !== "document") return
      if (event.status === "failed") return void failures.push({ path: event.path, error: event.error })
      counts[event.status]++
      if (event.faults !== undefined && event.status !== "unchanged") counts.faulty++
    }
    return Stream.fromIterable(first).pipe(
      Stream.concat(written),
      Stream.concat(Stream.fromIterableEffect(end)),
      Stream.tap((event) => Effect.sync(() => count(event))),
      Stream.concat(
        Stream.sync((): IngestEvent => ({ type: "done", report: { ...counts, failed: failures } }))
      )
    )
  })
