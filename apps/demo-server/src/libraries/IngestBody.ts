/** Converts the library's ingest report and events to their form in responses: errors become a reason and a message. */
import type { IngestEvent, IngestFailure, IngestReport } from "@sluice/rag"
import type { FailedFile, IngestReportBody, IngestStreamEvent } from "../contract/Documents.ts"
import { reasonCode } from "./RagFailure.ts"

const failedFile = ({ error, path }: IngestFailure): FailedFile => ({
  path,
  reason: reasonCode(error.reason),
  message: error.message
})

export const failedDocument = (failure: FailedFile): IngestStreamEvent => ({
  type: "document",
  path: failure.path,
  status: "failed",
  passages: 0,
  failure
})

/** The report, with the files that were rejected before the library read them. */
export const toReportBody = (
  report: IngestReport,
  rejected: ReadonlyArray<FailedFile> = []
): IngestReportBody => ({ ...report, failed: [...report.failed.map(failedFile), ...rejected] })

/** One event. `done` follows a failed `document` event for each rejected file. */
export const toStreamEvents = (
  event: IngestEvent,
  rejected: ReadonlyArray<FailedFile> = []
): ReadonlyArray<IngestStreamEvent> => {
  switch (event.type) {
    case "done":
      return [...rejected.map(failedDocument), { type: "done", report: toReportBody(event.report, rejected) }]
    case "document":
      return [event.status === "failed" ? failedDocument(failedFile(event)) : event]
    default:
      return [event]
  }
}
