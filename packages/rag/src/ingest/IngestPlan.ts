/** What an ingest would do and cost, as a value: nothing is done before it is applied. */
import { Schema } from "effect"
import { Manifest } from "../store/Manifest.ts"
import { RagReason } from "../document/RagError.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** What would become of one document. Those that stay as they are are only counted. */
export const PlannedChange = Schema.Struct({
  /** The document's path, which identifies it. */
  path: Schema.String,
  /** The file, relative to the plan's folder; another one than `path` where two folders have the same file. */
  file: Schema.String,
  /** `metadata` and `moved` write the document's row and embed nothing. */
  change: Schema.Literals(["added", "replaced", "metadata", "moved", "removed"]),
  /** SHA-256 of the file that would be written; of what is stored for those to be removed. */
  sha256: Schema.String,
  passages: Count,
  /** The pictures beside it that it would be read with. */
  pictures: Schema.optionalKey(
    Schema.Array(Schema.Struct({ reference: Schema.String, sha256: Schema.optionalKey(Schema.String) }))
  ),
  metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
})
export type PlannedChange = typeof PlannedChange.Type

const Estimate = Schema.Struct({ estimated: Count, atMost: Count })

/**
 * What `Library.plan` gives and `Library.apply` does. Plain values: it can be kept as JSON and decoded again.
 *
 * **Details.** `calls` are calls of the `Embedder`, at most 288 texts each, and `texts` what is sent in them: different
 * texts without a vector in the cache, which counts `cached`. Tokens are an estimate, since only the model knows its
 * vocabulary: `estimated` as the usual ones count, `atMost` by bytes. `cost` is in quota units.
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
  /** Files and folders that cannot be read; what is stored of them stays. */
  failed: Schema.Array(Schema.Struct({ path: Schema.String, reason: RagReason, message: Schema.String })),
  /** Passages that would be written. */
  passages: Count,
  texts: Count,
  cached: Count,
  calls: Count,
  tokens: Estimate,
  cost: Schema.optionalKey(Estimate)
})
export type IngestPlan = typeof IngestPlan.Type

/** What a plan counts with. */
export interface PlanOptions {
  /** Quota units for 1,000 tokens of the embedding model: the plan then says what it would cost. */
  readonly per1000Tokens?: number
}
