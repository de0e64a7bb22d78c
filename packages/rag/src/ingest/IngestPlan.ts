/** The plan of an ingest: what it would do and cost. Nothing is done until it is applied. */
import { Schema } from "effect"
import { RagReason } from "../document/RagError.ts"
import { Manifest } from "../store/Manifest.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** The change of one document. Unchanged documents are only counted. */
export const PlannedChange = Schema.Struct({
  /** The document's path, which identifies it. */
  path: Schema.String,
  /** The file, relative to the plan's folder. Differs from `path` if two folders have a file of the same path. */
  file: Schema.String,
  /** `metadata` and `moved` write the document's row and embed nothing. */
  change: Schema.Literals(["added", "replaced", "metadata", "moved", "removed"]),
  /** SHA-256 of the file; for `removed`, of the stored document. */
  sha256: Schema.String,
  passages: Count,
  /** The pictures that it links to. */
  pictures: Schema.optionalKey(
    Schema.Array(Schema.Struct({ reference: Schema.String, sha256: Schema.optionalKey(Schema.String) }))
  ),
  metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
})
export type PlannedChange = typeof PlannedChange.Type

const Estimate = Schema.Struct({ estimated: Count, atMost: Count })

/**
 * What `Library.plan` returns and `Library.apply` executes. It can be stored as JSON and decoded again.
 *
 * **Details.** `calls` are calls of the `Embedder`, with at most 288 texts each. `texts` are the different texts to send;
 * `cached` are those whose vectors are in the cache. Tokens are an estimate, because only the model knows its vocabulary:
 * `estimated` as common vocabularies count, `atMost` the number of bytes. `cost` is in quota units. `seconds` is how long the
 * embedding takes, at the speed that was measured in this process; absent if the model has not been timed.
 */
export const IngestPlan = Schema.Struct({
  collection: Schema.String,
  manifest: Manifest,
  /** Absolute. */
  folder: Schema.String,
  changes: Schema.Array(PlannedChange),
  added: Count,
  replaced: Count,
  removed: Count,
  unchanged: Count,
  /** Files and folders that cannot be read. Their stored documents stay. */
  failed: Schema.Array(Schema.Struct({ path: Schema.String, reason: RagReason, message: Schema.String })),
  /** Passages to write. */
  passages: Count,
  texts: Count,
  cached: Count,
  calls: Count,
  tokens: Estimate,
  cost: Schema.optionalKey(Estimate),
  seconds: Schema.optionalKey(Schema.Finite)
})
export type IngestPlan = typeof IngestPlan.Type

export interface PlanOptions {
  /** Price of the embedding model in quota units per 1,000 tokens. The plan then has a `cost`. */
  readonly per1000Tokens?: number
  /**
   * Time a free model with a few of the passages, if the process has not used it yet. Without it, `seconds` is known only of
   * models that this process has used. Default false.
   */
  readonly timeModel?: boolean
}
