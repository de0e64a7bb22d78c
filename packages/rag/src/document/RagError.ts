/** The one error of this package. */
import { Schema } from "effect"

/** The part of the pipeline that failed. */
export const Stage = Schema.Literals(["open", "parse", "ingest", "store", "retrieve", "answer", "evaluate"])
export type Stage = typeof Stage.Type

/**
 * The kind of failure, for programs. People read `message`.
 *
 * - `Empty`: an empty question or document, or nothing to evaluate.
 * - `UnsupportedFormat`: a file of an unknown format.
 * - `Malformed`: an invalid argument; a file that is damaged, or not what its name says.
 * - `Encrypted`: a file with a password.
 * - `TooLarge`: a file over the size limit.
 * - `NotFound`: no such file, document, passage or collection.
 * - `PermissionDenied`: the operating system or a remote store refuses access.
 * - `NoSpace`: the disk is full.
 * - `ManifestMismatch`: the collection was made with another embedding model, dimension or chunker.
 * - `Stale`: a file, the collection or the models changed since the plan.
 * - `NewerVersion`: a newer version wrote the data folder.
 * - `Model`: a model failed. `cause` is its `GatewayError`.
 * - `Store`: the store failed.
 * - `Internal`: a defect of this package or of a library. Please report it.
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

/** A failure: at which stage, why, and for which document. `message` says what to do. */
export class RagError extends Schema.TaggedError<RagError>()("RagError", {
  stage: Stage,
  reason: RagReason,
  message: Schema.String,
  document: Schema.optional(Schema.String),
  page: Schema.optional(Schema.Int),
  cause: Schema.optional(Schema.Defect())
}) {}
