/** The events and the report of an ingest. */
import type { ReadFault } from "../document/Document.ts"
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
  /** One commit is on disk. A crash loses nothing before it. */
  | { readonly type: "committed"; readonly documents: number; readonly passages: number }
  | { readonly type: "done"; readonly report: IngestReport }
