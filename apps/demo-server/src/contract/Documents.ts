/** Documents: list, add, read, remove. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Access, Fitting } from "./Access.ts"
import { StreamFailed } from "./Answer.ts"
import { DocumentInfo, DocumentText, PageText } from "./Document.ts"
import { problems } from "./Problem.ts"

/** A file that could not be read, and why. The others are not touched by it. */
export const FailedFile = Schema.Struct({
  path: Schema.String,
  /** In snake case: `unsupported_format`, `malformed`, `encrypted`, `empty`, `too_large` … */
  reason: Schema.String,
  message: Schema.String
})

/** What became of the files sent: paths by outcome. `passages` counts those that were written. */
export const IngestReport = Schema.Struct({
  added: Schema.Array(Schema.String),
  replaced: Schema.Array(Schema.String),
  unchanged: Schema.Array(Schema.String),
  failed: Schema.Array(FailedFile),
  passages: Schema.Int
})

/** `received` for each file as it arrives, `file` for each as it is done, `report` last, or `error`. */
export const IngestEvent = Schema.Union([
  Schema.Struct({ type: Schema.Literal("received"), path: Schema.String, bytes: Schema.Int }),
  Schema.Struct({
    type: Schema.Literal("file"),
    path: Schema.String,
    outcome: Schema.Literals(["added", "replaced", "unchanged", "removed", "failed"]),
    passages: Schema.Int,
    /** Files that are done, this one included, and files known so far. */
    done: Schema.Int,
    total: Schema.Int,
    reason: Schema.optionalKey(Schema.String),
    message: Schema.optionalKey(Schema.String)
  }),
  Schema.Struct({ type: Schema.Literal("report"), report: IngestReport }),
  StreamFailed
])

export type IngestReport = typeof IngestReport.Type
export type IngestEvent = typeof IngestEvent.Type

const headers = { accept: Schema.optionalKey(Schema.String) }
const params = { id: Schema.String }

export class Documents extends HttpApiGroup.make("documents")
  .add(
    HttpApiEndpoint.get("list", "/documents", {
      success: Schema.Struct({ documents: Schema.Array(DocumentInfo) }),
      error: problems
    }),
    /**
     * Adds files: any number of file parts, a part's filename being the document's path (`handbook/a.md`).
     * JSON by default; server-sent events with `Accept: text/event-stream`.
     */
    HttpApiEndpoint.post("add", "/documents", {
      headers,
      payload: Schema.Unknown.pipe(HttpApiSchema.asMultipartStream()),
      success: [IngestReport, HttpApiSchema.StreamSse({ data: IngestEvent })],
      error: problems
    }),
    HttpApiEndpoint.get("get", "/documents/:id", { params, success: DocumentText, error: problems }),
    HttpApiEndpoint.delete("remove", "/documents/:id", { params, error: problems }),
    HttpApiEndpoint.get("page", "/documents/:id/pages/:number", {
      params: { id: Schema.String, number: Schema.Int },
      success: PageText,
      error: problems
    }),
    /** The original, byte for byte, sandboxed: no script of it runs on this origin. */
    HttpApiEndpoint.get("file", "/documents/:id/file", {
      params,
      success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array()),
      error: problems
    })
  )
  .middleware(Access)
  .middleware(Fitting) {}
