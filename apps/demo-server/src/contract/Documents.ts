/** Documents: list, add, read, remove. */
import { MalformedRequest } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Access } from "./Access.ts"
import { StreamFailed } from "./Answer.ts"
import { CollectionName } from "./Names.ts"
import { DocumentInfoSchema, DocumentText, PageContent, ReadFaultSchema } from "./Document.ts"

/** Bytes of one upload at most, all files together. */
export const MAX_UPLOAD_BYTES = 2 * 1024 * 1024 * 1024

/** A file that could not be added. The other files of the upload are not affected. */
export const FailedFile = Schema.Struct({
  path: Schema.String,
  /** In snake case: `unsupported_format`, `malformed`, `encrypted`, `empty`, `too_large`, `storage_full` … */
  reason: Schema.String,
  message: Schema.String
})
export type FailedFile = typeof FailedFile.Type

/**
 * The result of an ingest: counts of documents, passages written, and failed files. `faulty` counts the added and
 * replaced documents of which a part could not be read.
 */
export const IngestReportBody = Schema.Struct({
  added: Schema.Int,
  replaced: Schema.Int,
  unchanged: Schema.Int,
  removed: Schema.Int,
  faulty: Schema.Int,
  passages: Schema.Int,
  failed: Schema.Array(FailedFile)
})
export type IngestReportBody = typeof IngestReportBody.Type

/** A `document` event for each file once it is on disk or has failed. The last event is `done` or `error`. */
export const IngestStreamEvent = Schema.Union([
  Schema.Struct({ type: Schema.Literal("found"), files: Schema.Int }),
  Schema.Struct({
    type: Schema.Literal("document"),
    path: Schema.String,
    /** Absent for failed files. */
    id: Schema.optionalKey(Schema.String),
    status: Schema.Literals(["added", "replaced", "unchanged", "removed", "failed"]),
    passages: Schema.Int,
    /** Parts of the document that could not be read. */
    faults: Schema.optionalKey(Schema.Array(ReadFaultSchema)),
    /** Only with status `failed`. */
    failure: Schema.optionalKey(FailedFile)
  }),
  Schema.Struct({ type: Schema.Literal("committed"), documents: Schema.Int, passages: Schema.Int }),
  Schema.Struct({ type: Schema.Literal("done"), report: IngestReportBody }),
  StreamFailed
])
export type IngestStreamEvent = typeof IngestStreamEvent.Type

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

/** The collection. Default: `default`. */
export const collectionQuery = { collection: Schema.optionalKey(CollectionName) }

const query = collectionQuery
const headers = { accept: Schema.optionalKey(Schema.String) }
const params = { id: Schema.String }

export class DocumentsGroup extends HttpApiGroup.make("documents")
  .add(
    HttpApiEndpoint.get("list", "/documents", {
      query,
      success: Schema.Struct({ documents: Schema.Array(DocumentInfoSchema) })
    }),
    /**
     * Adds files: any number of file parts, with the document's path as the filename (`handbook/a.md`). A field
     * `metadata`, a JSON object, applies to the files after it, until the next one. Creates the collection if needed.
     * Returns JSON, or server-sent events with `Accept: text/event-stream`.
     */
    HttpApiEndpoint.post("add", "/documents", {
      headers,
      query,
      payload: Files.pipe(HttpApiSchema.asMultipartStream()),
      success: [IngestReportBody, HttpApiSchema.StreamSse({ data: IngestStreamEvent })]
    }),
    HttpApiEndpoint.get("get", "/documents/:id", { params, query, success: DocumentText }),
    HttpApiEndpoint.delete("remove", "/documents/:id", { params, query }),
    HttpApiEndpoint.get("page", "/documents/:id/pages/:number", {
      params: { id: Schema.String, number: Schema.Int },
      query,
      success: PageContent
    }),
    /** The original file, sandboxed so that its scripts do not run on this origin. */
    HttpApiEndpoint.get("file", "/documents/:id/file", {
      params,
      query,
      success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array())
    })
  )
  // A misspelt `collection` must not fall back to the default one.
  .annotate(HttpApi.QueryParseOptions, { onExcessProperty: "error" })
  .middleware(Access)
  .middleware(MalformedRequest) {}
