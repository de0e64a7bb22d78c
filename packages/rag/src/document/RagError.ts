/** One error for everything retrieval does; it says the stage and keeps the reason as its cause. */
import { Schema } from "effect"

/** Where in the pipeline something failed. */
export const Stage = Schema.Literals(["open", "parse", "ingest", "store", "retrieve", "answer", "evaluate"])
export type Stage = typeof Stage.Type

/**
 * What kind of failure it was; programs branch on this, people read `message`.
 *
 * - `Empty`: nothing to work on: an empty question, an empty document.
 * - `UnsupportedFormat`: a file of a format that is not read.
 * - `Malformed`: a file that is not what its name says, or is damaged or truncated.
 * - `Encrypted`: a file that wants a password.
 * - `TooLarge`: a file over the size limit.
 * - `NotFound`: no such file, document, passage or collection.
 * - `PermissionDenied`: the operating system refuses access, or a store on the network does.
 * - `NoSpace`: the disk is full.
 * - `ManifestMismatch`: the collection was made with another embedding model, dimension or chunker.
 * - `Stale`: what was planned is no longer so: a file, the collection or the models changed since.
 * - `NewerVersion`: the data folder was written by a newer version.
 * - `Model`: a model failed; `cause` is its GatewayError.
 * - `Store`: the store failed.
 * - `Internal`: a fault of ours or of a library: please report.
 */
export const RagReason = Schema.Literals([
  "Empty",
  "UnsupportedFormat",
  "Malformed",
  "Encrypted",
  "TooLarge",
  "NotFound",
  "PermissionDenied",
  "NoSpace",
  "ManifestMismatch",
  "Stale",
  "NewerVersion",
  "Model",
  "Store",
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
