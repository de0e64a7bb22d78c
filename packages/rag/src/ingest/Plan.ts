/** Plans an ingest: parses and chunks every file, calls no model and writes nothing. */
import { isDeepStrictEqual } from "node:util"
import { Effect, Stream } from "effect"
import { documentId } from "../document/Hash.ts"
import { RagError } from "../document/RagError.ts"
import { TEXTS_PER_CALL } from "../embedding/EmbeddingCalls.ts"
import type { PassageEmbedder, TokenEstimate } from "../embedding/PassageEmbedder.ts"
import type { Manifest } from "../store/Manifest.ts"
import type { Collection, StoredDocument } from "../store/PassageIndex.ts"
import { type Batch, batchFiles } from "./Batches.ts"
import type { IngestPlan, PlannedChange, PlanOptions } from "./IngestPlan.ts"
import { folderFiles } from "./sources/FolderFiles.ts"
import { byId, type FolderSource } from "./sources/Source.ts"

/** Plans how to update the collection from a folder. The batches are those that `applyPlan` makes. */
export const planIngest = Effect.fn("Plan.ingest")(function* (
  source: FolderSource,
  collection: Collection,
  manifest: Manifest,
  embedder: PassageEmbedder,
  { per1000Tokens }: PlanOptions
) {
  if (per1000Tokens !== undefined && !(per1000Tokens >= 0 && per1000Tokens < Infinity)) {
    const message = `per1000Tokens is ${per1000Tokens}; expected quota units, 0 or more.`
    return yield* new RagError({ stage: "ingest", reason: "Malformed", message })
  }
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

  const counter = makeTextCounter(embedder)
  yield* Stream.runForEach(batchFiles(named, stored, "repeatable"), (batch) => {
    addChanges(batch)
    return counter.add(batch)
  })
  for (const document of deleted(found)) addChange("removed", document)

  const totals = counter.totals()
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
    ...totals,
    ...(per1000Tokens === undefined ? {} : { cost: costOf(totals.tokens, per1000Tokens) })
  }
  return plan
})

/** Counts the texts that the embedder would send for successive batches. */
const makeTextCounter = (embedder: PassageEmbedder) => {
  const counted = new Set<string>()
  const totals = { passages: 0, texts: 0, cached: 0, calls: 0, tokens: { estimated: 0, atMost: 0 } }
  return {
    totals: () => totals,
    add: ({ changed, passages }: Batch): Effect.Effect<void, RagError> =>
      Effect.gen(function* () {
        const texts = changed.flatMap((document) => document.passages)
        const missing = yield* embedder.missing(texts)
        const sent = embedder.isCached ? missing.filter(({ hash }) => !counted.has(hash)) : missing
        for (const { hash, text } of sent) {
          counted.add(hash)
          const tokens = embedder.tokens(text)
          totals.tokens.estimated += tokens.estimated
          totals.tokens.atMost += tokens.atMost
        }
        totals.passages += passages
        totals.texts += sent.length
        totals.cached += new Set(texts.map(({ hash }) => hash)).size - missing.length
        totals.calls += Math.ceil(sent.length / TEXTS_PER_CALL)
      })
  }
}

/** Rounded up to whole units, as a gateway does. */
const costOf = ({ atMost, estimated }: TokenEstimate, per1000Tokens: number): TokenEstimate => ({
  estimated: Math.ceil((estimated * per1000Tokens) / 1000),
  atMost: Math.ceil((atMost * per1000Tokens) / 1000)
})
