/** One error for everything retrieval does; it says the stage and keeps the reason as its cause. */
import { Schema } from "effect"

/** Where in the pipeline something failed. */
export const Stage = Schema.Literals(["open", "parse", "ingest", "store", "retrieve", "answer", "evaluate"])
export type Stage = typeof Stage.Type

/** What kind of failure it was; programs branch on this, people read `message`. */
export const RagReason = Schema.Literals([
  /** Nothing to work on: an empty question, an empty document. */
  "Empty",
  /** A file of a format that is not read. */
  "UnsupportedFormat",
  /** A file that is not what its name says, or is damaged or truncated. */
  "Malformed",
  /** A file that wants a password. */
  "Encrypted",
  /** A file over the size limit. */
  "TooLarge",
  /** No such file, document, passage or collection. */
  "NotFound",
  /** The operating system refuses access, or a store on the network does. */
  "PermissionDenied",
  /** The disk is full. */
  "NoSpace",
  /** The collection was made with another embedding model, dimension or chunker. */
  "ManifestMismatch",
  /** What was planned is no longer so: a file, the collection or the models changed since. */
  "Stale",
  /** The data folder was written by a newer version. */
  "NewerVersion",
  /** A model failed; `cause` is its GatewayError. */
  "Model",
  /** The store failed. */
  "Store",
  /** A fault of ours or of a library: please report. */
  "Internal"
])
export type RagReason = typeof RagReason.Type

/** Retrieval failed: at which stage, why, about which document, and what to try next (in `message`). */
export class RagError extends Schema.TaggedError<RagError>()("RagError", {
  stage: Stage,
  reason: RagReason,
  message: Schema.String,
  document: Schema.optional(Schema.String),
  page: Schema.optional(Schema.Int),
  cause: Schema.optional(Schema.Defect())
}) {}
