/** Plans an ingest: parses and chunks every file, and writes nothing. */
import { isDeepStrictEqual } from "node:util"
import { Effect, Stream } from "effect"
import { documentId } from "../document/Hash.ts"
import type { PassageEmbedder } from "../embedding/PassageEmbedder.ts"
import type { Manifest } from "../store/Manifest.ts"
import type { Collection, StoredDocument } from "../store/PassageIndex.ts"
import { type Batch, batchFiles } from "./Batches.ts"
import type { IngestPlan, PlannedChange, PlanOptions } from "./IngestPlan.ts"
import { folderFiles } from "./sources/FolderFiles.ts"
import { byId, type FolderSource } from "./sources/Source.ts"
import { makeTextCounter } from "./TextCounter.ts"

/** Plans how to update the collection from a folder. The batches are those that `applyPlan` makes. */
export const planIngest = Effect.fn("Plan.ingest")(function* (
  source: FolderSource,
  collection: Collection,
  manifest: Manifest,
  embedder: PassageEmbedder,
  options: PlanOptions
) {
  const counter = yield* makeTextCounter(embedder, options)
  const stored = byId(yield* collection.inventory)
  const { deleted, failed, files, root } = yield* folderFiles(source, stored)
  const fileOf = new Map<string, string>()
  const named = Stream.tap(files, ({ file, path }) => Effect.sync(() => fileOf.set(path, file)))

  const found = new Set<string>()
  const changes: Array<PlannedChange> = []
  const failures = [...failed]
  let unchanged = 0
  const addChange = (
    change: PlannedChange["change"],
    { info: { metadata, passages, path, sha256 }, pictures }: Pick<StoredDocument, "info" | "pictures">
  ) =>
    changes.push({
      path,
      file: fileOf.get(path) ?? path,
      change,
      sha256,
      passages,
      ...(pictures && { pictures }),
      ...(metadata && { metadata })
    })
  const addChanges = ({ adopted, changed, events }: Batch): void => {
    for (const document of changed) {
      found.add(document.info.id)
      addChange(stored.has(document.info.id) ? "replaced" : "added", document)
    }
    for (const document of adopted) {
      const { metadata } = stored.get(document.info.id)?.info ?? {}
      addChange(isDeepStrictEqual(metadata, document.info.metadata) ? "moved" : "metadata", document)
    }
    for (const event of events) {
      if (event.type !== "document") continue
      found.add(documentId(event.path))
      if (event.status === "failed") failures.push(event)
      else if (event.status === "unchanged") unchanged++
    }
  }

  yield* Stream.runForEach(batchFiles(named, stored, "repeatable"), (batch) => {
    addChanges(batch)
    return counter.add(batch.changed.flatMap((document) => document.passages))
  })
  for (const document of deleted(found)) addChange("removed", document)

  const count = (change: PlannedChange["change"]) => changes.filter((it) => it.change === change).length
  const plan: IngestPlan = {
    collection: collection.name,
    manifest,
    folder: root,
    changes,
    added: count("added"),
    replaced: count("replaced") + count("metadata"),
    removed: count("removed"),
    unchanged,
    failed: failures.map(({ error, path }) => ({ path, reason: error.reason, message: error.message })),
    ...(yield* counter.totals)
  }
  return plan
})
