/** Applies a plan: does exactly what it says. It may be applied again after an interruption. */
import { Effect, Schema, Stream } from "effect"
import { documentId, sha256 } from "../document/Hash.ts"
import { RagError } from "../document/RagError.ts"
import type { PassageEmbedder } from "../embedding/PassageEmbedder.ts"
import { FORMAT, type Manifest } from "../store/Manifest.ts"
import type { Collection, StoredDocument } from "../store/PassageIndex.ts"
import { ingestFiles } from "./Ingest.ts"
import { type IngestEvent, documentEvent, failedEvent, withReport } from "./IngestEvents.ts"
import { IngestPlan, type PlannedChange } from "./IngestPlan.ts"
import { picturesUnchanged } from "./sources/LinkedPictures.ts"
import { byId, type SourceFile } from "./sources/Source.ts"
import { isFile, pictureReader, readSource } from "./sources/SourceFiles.ts"

/**
 * Writes and removes what the plan names, in its order and in its batches, and embeds no more than it counts.
 *
 * **Details.** If a file changed since, or the document to remove changed or has its file again, an event reports it as
 * failed with `Stale`, and it is left as it is. Documents that are up to date are unchanged.
 */
export const applyPlan = (
  plan: IngestPlan,
  collection: Collection,
  manifest: Manifest,
  embedder: PassageEmbedder
): Stream.Stream<IngestEvent, RagError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      yield* checkPlan(plan, collection, manifest)
      const stored = byId(yield* collection.inventory)
      const files = plan.changes
        .filter(({ change }) => change !== "removed")
        .map((change) => plannedFile(plan.folder, change))
      const limited = embedder.within({ calls: plan.calls, texts: plan.texts })
      const written = ingestFiles(Stream.fromIterable(files), collection, limited, stored, "repeatable")
      const end = Effect.tap(removePlanned(plan, stored, collection), collection.settle)
      return withReport(plan.changes.length, written, end)
    })
  )

const isPlan = Schema.is(IngestPlan)

/** Fails with `Stale` unless the plan was made for this collection and these models. */
const checkPlan = (
  plan: IngestPlan,
  collection: Collection,
  manifest: Manifest
): Effect.Effect<void, RagError> => {
  if (!isPlan(plan)) return Effect.fail(stale("Not a plan. Nothing was done. Make one with `plan`."))
  const planned = { ...plan.manifest, collection: plan.collection, format: FORMAT }
  const present = { ...manifest, collection: collection.name, format: FORMAT }
  const differences = (["collection", "embeddingModel", "dimension", "chunker"] as const)
    .filter((key) => planned[key] !== present[key])
    .map((key) => `${key} ${planned[key]}, not ${present[key]}`)
  const message = `The plan was made for ${differences.join("; ")}. Nothing was done. Make a new plan.`
  return differences.length === 0 ? Effect.void : Effect.fail(stale(message))
}

/** A file that can be read only if neither it nor a picture that it links to has changed since the plan. */
const plannedFile = (
  folder: string,
  { file, metadata, path, pictures = [], sha256: planned }: PlannedChange
): SourceFile => {
  const picture = pictureReader(folder, file)
  return {
    path,
    source: folder,
    read: readSource(folder, file).pipe(
      Effect.catchIf(
        ({ reason }) => reason === "NotFound",
        () => Effect.fail(stale(`${path} was deleted after the plan. It was skipped; make a new plan.`, path))
      ),
      Effect.filterOrFail(
        (bytes) => sha256(bytes) === planned,
        () => stale(`${path} changed after the plan. It was skipped; make a new plan.`, path)
      ),
      Effect.tap(() =>
        Effect.filterOrFail(
          picturesUnchanged(pictures, picture),
          (unchanged) => unchanged,
          () => stale(`A picture in ${path} changed after the plan. It was skipped; make a new plan.`, path)
        )
      )
    ),
    metadata: Effect.succeed(metadata),
    picture
  }
}

const removePlanned = Effect.fn("Apply.remove")(function* (
  { changes, folder }: IngestPlan,
  storedDocuments: ReadonlyMap<string, StoredDocument>,
  collection: Collection
) {
  const removed: Array<StoredDocument> = []
  const events: Array<IngestEvent> = []
  for (const { change, file, path, sha256: planned } of changes) {
    const stored = storedDocuments.get(documentId(path))
    if (change !== "removed" || stored === undefined) continue
    const exists = stored.source !== folder || (yield* isFile(folder, file))
    if (!exists && stored.info.sha256 === planned) {
      removed.push(stored)
      continue
    }
    const why = exists ? "its file exists again" : "it changed"
    const error = stale(`${path} was not removed, because ${why} after the plan. Make a new plan.`, path)
    events.push(failedEvent(path, error))
  }
  yield* collection.remove(removed.map(({ info }) => info.id))
  return [...events, ...removed.map(({ info }) => documentEvent(info, "removed"))]
})

const stale = (message: string, document?: string): RagError =>
  new RagError({ stage: "ingest", reason: "Stale", message, document })
