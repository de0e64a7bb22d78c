/** Documents: list, add, read, remove. */
import { failures, MalformedRequest } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Access } from "./Access.ts"
import { StreamFailed } from "./Answer.ts"
import { CollectionName } from "./Collections.ts"
import { DocumentInfo, DocumentText, PageText, ReadFault } from "./Document.ts"

/** A file that could not be read, and why. The others are not touched by it. */
export const FailedFile = Schema.Struct({
  path: Schema.String,
  /** In snake case: `unsupported_format`, `malformed`, `encrypted`, `empty`, `too_large` … */
  reason: Schema.String,
  message: Schema.String
})

/**
 * What an ingest has done: counts of documents, passages written, and the files that failed. `faulty` are those added and
 * replaced of which a part could not be read.
 */
export const IngestReport = Schema.Struct({
  added: Schema.Int,
  replaced: Schema.Int,
  unchanged: Schema.Int,
  removed: Schema.Int,
  faulty: Schema.Int,
  passages: Schema.Int,
  failed: Schema.Array(FailedFile)
})

/** `document` for each file as it is on disk or has failed, `done` with the report last, or `error`. */
export const IngestEvent = Schema.Union([
  Schema.Struct({ type: Schema.Literal("found"), files: Schema.Int }),
  Schema.Struct({
    type: Schema.Literal("document"),
    path: Schema.String,
    /** Absent for files that failed. */
    id: Schema.optionalKey(Schema.String),
    status: Schema.Literals(["added", "replaced", "unchanged", "removed", "failed"]),
    passages: Schema.Int,
    /** What of it could not be read; the rest was. */
    faults: Schema.optionalKey(Schema.Array(ReadFault)),
    /** Why it failed; only with `failed`. */
    failure: Schema.optionalKey(FailedFile)
  }),
  Schema.Struct({ type: Schema.Literal("committed"), documents: Schema.Int, passages: Schema.Int }),
  Schema.Struct({ type: Schema.Literal("done"), report: IngestReport }),
  StreamFailed
])

export type IngestReport = typeof IngestReport.Type
export type IngestEvent = typeof IngestEvent.Type

/** Parts with a filename; read as a stream, so that this only describes them. */
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

/** Which collection; `default` where it is not given. */
export const query = { collection: Schema.optionalKey(CollectionName) }

const headers = { accept: Schema.optionalKey(Schema.String) }
const params = { id: Schema.String }

export class Documents extends HttpApiGroup.make("documents")
  .add(
    HttpApiEndpoint.get("list", "/documents", {
      query,
      success: Schema.Struct({ documents: Schema.Array(DocumentInfo) }),
      error: failures
    }),
    /**
     * Adds files: any number of file parts, a part's filename being the document's path (`handbook/a.md`).
     * A field `metadata`, a JSON object, is attached to each file after it, until the next one. A collection that is not
     * there is made. JSON by default; server-sent events with `Accept: text/event-stream`.
     */
    HttpApiEndpoint.post("add", "/documents", {
      headers,
      query,
      payload: Files.pipe(HttpApiSchema.asMultipartStream()),
      success: [IngestReport, HttpApiSchema.StreamSse({ data: IngestEvent })],
      error: failures
    }),
    HttpApiEndpoint.get("get", "/documents/:id", { params, query, success: DocumentText, error: failures }),
    HttpApiEndpoint.delete("remove", "/documents/:id", { params, query, error: failures }),
    HttpApiEndpoint.get("page", "/documents/:id/pages/:number", {
      params: { id: Schema.String, number: Schema.Int },
      query,
      success: PageText,
      error: failures
    }),
    /** The original, byte for byte, sandboxed: no script of it runs on this origin. */
    HttpApiEndpoint.get("file", "/documents/:id/file", {
      params,
      query,
      success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array()),
      error: failures
    })
  )
  // A misspelt collection would be the default one.
  .annotate(HttpApi.QueryParseOptions, { onExcessProperty: "error" })
  .middleware(Access)
  .middleware(MalformedRequest) {}
