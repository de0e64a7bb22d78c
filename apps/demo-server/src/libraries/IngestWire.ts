/** An ingest as it travels: the library's events and report, with errors as reason and message. */
import type * as Rag from "@sluice/rag"
import type { IngestEvent, IngestReport } from "../contract/Documents.ts"
import { reasonCode } from "./RagFailure.ts"

/** A file refused before the library reads it. */
export interface RefusedFile {
  readonly path: string
  readonly reason: "too_large" | "malformed"
  readonly message: string
}

type FailedFile = IngestReport["failed"][number]

const failedFile = ({ path, error }: Rag.IngestFailure): FailedFile => ({
  path,
  reason: reasonCode(error.reason),
  message: error.message
})

const failedDocument = (path: string, failure: FailedFile): IngestEvent => ({
  type: "document",
  path,
  status: "failed",
  passages: 0,
  failure
})

/** The report, with the files that were refused before the library saw them. */
export const wireReport = (
  report: Rag.IngestReport,
  refused: ReadonlyArray<RefusedFile> = []
): IngestReport => ({
  added: report.added,
  replaced: report.replaced,
  unchanged: report.unchanged,
  removed: report.removed,
  faulty: report.faulty,
  passages: report.passages,
  failed: [...report.failed.map(failedFile), ...refused]
})

/** One event as it travels; the report comes after one `document` for each file that was refused. */
export const wireEvents = (
  event: Rag.IngestEvent,
  refused: ReadonlyArray<RefusedFile> = []
): ReadonlyArray<IngestEvent> => {
  switch (event.type) {
    case "done":
      return [
        ...refused.map((file) => failedDocument(file.path, file)),
        { type: "done", report: wireReport(event.report, refused) }
      ]
    case "document":
      return [event.status === "failed" ? failedDocument(event.path, failedFile(event)) : event]
    default:
      return [event]
  }
}
