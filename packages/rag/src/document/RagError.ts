/** The one error of this package. */
import { Schema } from "effect"

/** The part of the pipeline that failed. */
export const Stage = Schema.Literals(["open", "parse", "ingest", "store", "retrieve", "answer", "evaluate"])
export type Stage = typeof Stage.Type

/** The kind of failure, for programs. People read `message`. */
export const RagReason = Schema.Literals([
  "Empty", // An empty question or document, or nothing to evaluate.
  "UnsupportedFormat", // A file of an unknown format.
  "Malformed", // An invalid argument; a file that is damaged, or not what its name says.
  "Encrypted", // A file with a password.
  "TooLarge", // A file over the size limit.
  "NotFound", // No such file, document, passage or collection.
  "PermissionDenied", // The operating system or a remote store refuses access.
  "NoSpace", // The disk is full.
  "ManifestMismatch", // The collection was made with another format, embedding model or dimension.
  "Stale", // A file, the collection or the models changed since the plan.
  "NewerVersion", // A newer version wrote the data folder.
  "Source", // A source of documents failed. `cause` is its error.
  "Model", // A model failed. `cause` is its `GatewayError`.
  "Store", // The store failed.
  "Damaged", // A file of the store is damaged or lost.
  "Internal" // A defect of this package or of a library. Please report it.
])
export type RagReason = typeof RagReason.Type

/** A failure: at which stage, why, and for which document. `message` says what to do. */
export class RagError extends Schema.TaggedError<RagError>()("RagError", {
  stage: Stage,
  reason: RagReason,
  message: Schema.String,
  document: Schema.optional(Schema.String),
  page: Schema.optional(Schema.Int),
  cause: Schema.optional(Schema.Defect())
}) {}

/** A `RagError` of the stage `ingest`. `message` is whole sentences. */
export const ingestError = (
  document: string,
  reason: RagReason,
  message: string,
  cause?: unknown
): RagError => new RagError({ stage: "ingest", reason, message, document, cause })
