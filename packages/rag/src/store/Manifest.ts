/**
 * The model and chunker that a collection was made with. Vectors of two models are never mixed in one collection. Passages
 * of another chunker are readable, until a rebuild makes them again.
 */
import { Effect, Schema } from "effect"
import { RagError } from "../document/RagError.ts"

/** The version of the table layout that this code writes, and the newest that it reads. */
export const FORMAT = 2

/** Stored in the row that names the collection. */
export const Manifest = Schema.Struct({
  format: Schema.Int,
  embeddingModel: Schema.String,
  dimension: Schema.Int,
  chunker: Schema.String
})
export type Manifest = typeof Manifest.Type

const Format = Schema.fromJsonString(Schema.Struct({ format: Schema.Int }))

/** As stored. `successor` is the table to which a rebuild is about to move the name. */
const StoredManifest = Schema.Struct({ ...Manifest.fields, successor: Schema.optionalKey(Schema.String) })
export type StoredManifest = typeof StoredManifest.Type
const ManifestJson = Schema.fromJsonString(StoredManifest)

export const encodeManifest = (manifest: StoredManifest): string => JSON.stringify(manifest)

/** Parses a stored manifest. The format is checked first, so that a newer layout is not reported as damage. */
export const decodeManifest = Effect.fn("Manifest.decode")(function* (collection: string, json: string) {
  const orDamaged = Effect.mapError((cause: Schema.SchemaError) => damaged(collection, cause))
  const { format } = yield* orDamaged(Schema.decodeEffect(Format)(json))
  if (format > FORMAT) {
    const message = `Collection "${collection}" was written in format ${format}; this version of Sluice reads formats up to ${FORMAT}. Nothing was changed. Update Sluice, or open another folder.`
    return yield* new RagError({ stage: "open", reason: "NewerVersion", message })
  }
  return yield* orDamaged(Schema.decodeEffect(ManifestJson)(json))
})

const damaged = (collection: string, cause: unknown) => {
  const message = `The manifest of collection "${collection}" cannot be read. Rebuild the collection, or restore the folder from a copy.`
  return new RagError({ stage: "open", reason: "Damaged", message, cause })
}

/** Fails with `ManifestMismatch` unless the collection, or its snapshot, was made with the present format and model. */
export const checkManifest = (
  { collection, snapshot }: { readonly collection: string; readonly snapshot?: string },
  stored: Manifest,
  present: Manifest
): Effect.Effect<void, RagError> => {
  const differences = [
    ["format", String(stored.format), String(present.format)],
    ["embedding model", stored.embeddingModel, present.embeddingModel],
    ["dimension", stored.dimension, present.dimension]
  ].flatMap(([name, was, is]) => (was === is ? [] : [`${name} ${was}, now ${is}`]))
  if (differences.length === 0) return Effect.void
  const settings = differences.join("; ")
  const message =
    snapshot === undefined
      ? `Collection "${collection}" was made with ${settings}. Open it with the same settings, or rebuild it: Library.rebuild(folder) fills a new table from the stored originals.`
      : `Snapshot "${snapshot}" of collection "${collection}" was made with ${settings}. With the same settings, Library.restore(folder, snapshot) restores it. Tag the collection first to be able to return.`
  return Effect.fail(new RagError({ stage: "open", reason: "ManifestMismatch", message }))
}
