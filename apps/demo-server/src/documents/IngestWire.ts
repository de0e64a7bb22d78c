/** An ingest as it travels: the library's events and report, with errors as reason and message. */
import type * as Rag from "@sluice/rag"
import type { IngestEvent, IngestReport } from "../contract/Documents.ts"
import { reasonCode } from "./RagFailure.ts"
import type { Refused } from "./Upload.ts"

const failedFile = ({ path, error }: Rag.IngestFailure) => ({
  path,
  reason: reasonCode(error.reason),
  message: error.message
})

/** The report, with the files that were refused before the library saw them. */
export const wireReport = (report: Rag.IngestReport, refused: ReadonlyArray<Refused> = []): IngestReport => ({
  added: report.added,
  replaced: report.replaced,
  unchanged: report.unchanged,
  removed: report.removed,
  passages: report.passages,
  failed: [...report.failed.map(failedFile), ...refused]
})

/** One event; `refused` is read when the report comes. */
export const wireEvent = (event: Rag.IngestEvent, refused: ReadonlyArray<Refused> = []): IngestEvent => {
  switch (event.type) {
    case "done":
      return { type: "done", report: wireReport(event.report, refused) }
    case "document":
      return event.status === "failed"
        ? { type: "document", path: event.path, status: "failed", passages: 0, failure: failedFile(event) }
        : event
    default:
      return event
  }
}
