/** What is told of one document, while many are ingested. */
import type { DocumentInfo } from "../document/Document.ts"
import type { IngestEvent } from "./IngestReport.ts"
import type { RagError } from "../document/RagError.ts"

/** What became of a document that needs no more work. */
export const documentEvent = (
  info: DocumentInfo,
  status: "added" | "replaced" | "unchanged" | "removed"
): IngestEvent => ({
  type: "document",
  path: info.path,
  id: info.id,
  status,
  passages: info.passages,
  ...(info.faults === undefined || status === "removed" ? {} : { faults: info.faults })
})

/** A file that could not be ingested. */
export const failedEvent = (path: string, error: RagError): IngestEvent => ({
  type: "document",
  path,
  status: "failed",
  passages: 0,
  error
})
