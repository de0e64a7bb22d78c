/** Documents: list, add, read, remove. */
import { between, field } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Access } from "./Access.ts"
import { streamEvent, StreamFailed } from "./Answer.ts"
import { CollectionReference, DEFAULT_COLLECTION } from "./Names.ts"
import { DocumentInfoSchema, DocumentText, PageContent, ReadFaultSchema } from "./Document.ts"

const { optionalKey } = Schema

/** Bytes of one upload at most, all files together. */
export const MAX_UPLOAD_BYTES = 2 * 1024 * 1024 * 1024

/** Files and fields of one upload at most. The response lists each file that failed. */
export const MAX_UPLOAD_PARTS = 10_000

/** A file that could not be added. The other files of the upload are not affected. */
export const FailedFile = Schema.Struct({
  path: field("The path of the file.", Schema.String),
  reason: field(
    "In snake case: `unsupported_format`, `malformed`, `encrypted`, `empty`, `too_large` …",
    Schema.String
  ),
  message: field("What is wrong, and what to do.", Schema.String)
})
export type FailedFile = typeof FailedFile.Type

/** The result of an ingest. */
export const IngestReportBody = Schema.Struct({
  added: field("Documents that are new.", Schema.Int),
  replaced: field("Documents that were changed.", Schema.Int),
  unchanged: field("Documents that were the same.", Schema.Int),
  removed: field("Documents that were removed.", Schema.Int),
  faulty: field("Added and replaced documents of which a part could not be read.", Schema.Int),
  passages: field("Passages that were written.", Schema.Int),
  failed: field("Files that could not be added. In jobs the first 100.", Schema.Array(FailedFile)),
  unlisted: field("Further files that could not be added, only in jobs.", optionalKey(Schema.Int))
})
export type IngestReportBody = typeof IngestReportBody.Type

/** Scanned pages of a file that are read. */
const PAGES = {
  path: field("The path of the file.", Schema.String),
  done: field("Its scanned pages that are read.", Schema.Int),
  pages: field("All scanned pages that are read of it.", Schema.Int)
}

/** An upload, a rebuild, or a run of a source, that runs in the background, at any server or worker of the same database. */
export const JobStatus = Schema.Literals(["queued", "running", "completed", "failed", "cancelled"])
export type JobStatus = typeof JobStatus.Type

export const Job = Schema.Struct({
  id: field("The job's id.", Schema.String),
  kind: field("What it does.", Schema.Literals(["ingest", "rebuild", "sync"])),
  status: field("`completed`, `failed` and `cancelled` are final.", JobStatus),
  collection: field("The collection of an upload or a source.", optionalKey(Schema.String)),
  files: field("Files or documents to process, once known.", optionalKey(Schema.Int)),
  done: field("Files or documents that are on disk, unchanged, or have failed.", Schema.Int),
  passages: field("Passages that were written.", Schema.Int),
  reading: field("The scan that is read now.", optionalKey(Schema.Struct(PAGES))),
  created_at: field("In ms since 1970.", Schema.Int),
  updated_at: field("The last change, in ms since 1970. A running job has one each second.", Schema.Int),
  report: field("The counts of the whole, of a completed job.", optionalKey(IngestReportBody)),
  error: field(
    "Why a job failed.",
    optionalKey(
      Schema.Struct({
        code: field("The reason.", Schema.String),
        message: field("What is wrong, and what to do.", Schema.String)
      })
    )
  )
})
export type Job = typeof Job.Type

/**
 * A `document` event for each file once it is on disk or has failed. The last event is `done` or `error`; with
 * `Prefer: respond-async, wait=…`, the `job` events of files that take longer are the last ones.
 */
export const IngestStreamEvent = Schema.Union([
  streamEvent("found", "files were found", { files: field("The number of files.", Schema.Int) }),
  streamEvent("document", "a file is on disk or has failed", {
    path: field("The path of the file.", Schema.String),
    id: field("The document's id. Absent for failed files.", optionalKey(Schema.String)),
    status: field("Its outcome.", Schema.Literals(["added", "replaced", "unchanged", "removed", "failed"])),
    passages: field("The number of its passages.", Schema.Int),
    faults: field("What could not be read.", optionalKey(Schema.Array(ReadFaultSchema))),
    failure: field("Only with status `failed`.", optionalKey(FailedFile))
  }),
  streamEvent("pages", "another page of a scan was read", PAGES),
  streamEvent("committed", "documents can be searched", {
    documents: field("The number of documents.", Schema.Int),
    passages: field("The number of passages.", Schema.Int)
  }),
  streamEvent("done", "the end", { report: field("The counts of the whole.", IngestReportBody) }),
  streamEvent("job", "a file is read as a job", {
    path: field("The path of the file.", Schema.String),
    job: field("Its job.", Job)
  }),
  StreamFailed
])
export type IngestStreamEvent = typeof IngestStreamEvent.Type

/** Ended jobs are kept this long. */
export const JOB_DAYS = 7

/** Documents of one page of a list at most. */
export const MAX_LISTED = 1_000

/** A page of a list. */
export const DocumentsPage = Schema.Struct({
  documents: field("The documents, by path.", Schema.Array(DocumentInfoSchema)),
  total: field("Documents of all pages.", Schema.Int),
  next: field("For `after`. Absent: this is the last page.", optionalKey(Schema.String))
})
export type DocumentsPage = typeof DocumentsPage.Type

/** File parts. The body is read as a stream, so this schema only serves the OpenAPI document. */
const Files = Schema.declare((u): u is unknown => u !== undefined, {
  identifier: "Files",
  toCodecJson: () => undefined,
  toJsonSchema: () => ({
    type: "object",
    properties: {
      metadata: { type: "string", contentMediaType: "application/json" },
      files: { type: "array", items: { type: "string", format: "binary" } }
    }
  })
})

export const collectionQuery = {
  collection: field(
    "The collection; `name@owner` for a shared one.",
    optionalKey(CollectionReference),
    DEFAULT_COLLECTION
  )
}

const query = collectionQuery
const headers = {
  accept: field("`text/event-stream` for server-sent events.", optionalKey(Schema.String)),
  prefer: field(
    "`respond-async` for a job; `respond-async, wait=2` for a job of each file that takes longer than so many seconds.",
    optionalKey(Schema.String)
  ),
  "content-length": field(
    "From 256 MiB on, an upload without server-sent events becomes a job.",
    optionalKey(Schema.String)
  )
}
export const documentParams = { id: field("The document's id.", Schema.String) }
export const pageParams = { ...documentParams, number: field("The page, from 1.", Schema.Int) }

export class DocumentsGroup extends HttpApiGroup.make("documents")
  .add(
    HttpApiEndpoint.get("list", "/documents", {
      query: {
        ...query,
        text: field("Only documents whose path or title contains this text.", optionalKey(Schema.String)),
        after: field("The `next` of the page before.", optionalKey(Schema.String)),
        limit: field("Documents of the page. Default: 1,000.", optionalKey(between(1, MAX_LISTED)))
      },
      success: DocumentsPage
    }),
    /**
     * Adds files: file parts, 10,000 parts at most, with the document's path as the filename (`handbook/a.md`). A field
     * `metadata`, a JSON object, applies to the files after it, until the next one. Creates the collection if needed.
     * Returns JSON, or server-sent events with `Accept: text/event-stream`. With `Prefer: respond-async`, and for uploads of
     * 256 MiB and more, it stores the files and returns 202 with a [job](#get-jobs-id), which ingests them. Events with
     * `Prefer: respond-async, wait=2` end when for two seconds none but files that are being parsed are left: each becomes a job. An
     * upload of more than 80 MiB is a job at once.
     */
    HttpApiEndpoint.post("add", "/documents", {
      headers,
      query,
      payload: Files.pipe(HttpApiSchema.asMultipartStream({ maxParts: MAX_UPLOAD_PARTS })),
      success: [
        IngestReportBody,
        Job.pipe(HttpApiSchema.status(202)),
        HttpApiSchema.StreamSse({ data: IngestStreamEvent })
      ]
    }),
    HttpApiEndpoint.get("get", "/documents/:id", { params: documentParams, query, success: DocumentText }),
    HttpApiEndpoint.delete("remove", "/documents/:id", { params: documentParams, query }),
    HttpApiEndpoint.get("page", "/documents/:id/pages/:number", {
      params: pageParams,
      query,
      success: PageContent
    }),
    /** The original file, sandboxed so that its scripts do not run on this origin. */
    HttpApiEndpoint.get("file", "/documents/:id/file", {
      params: documentParams,
      query,
      success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array())
    })
  )
  // A misspelt `collection` must not fall back to the default one.
  .annotate(HttpApi.QueryParseOptions, { onExcessProperty: "error" })
  .middleware(Access) {}
