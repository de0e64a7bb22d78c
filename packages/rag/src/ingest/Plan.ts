/** What an ingest would do, found out by reading and cutting every file, without a model and without a write. */
import { isDeepStrictEqual } from "node:util"
import { Effect, Stream } from "effect"
import { type Batch, batchesOf } from "./Batches.ts"
import { documentId } from "./Draft.ts"
import { folderFiles } from "./sources/FolderFiles.ts"
import type { FolderSource } from "./IngestReport.ts"
import type { IngestPlan, PlannedChange, PlanOptions } from "./IngestPlan.ts"
import type { Manifest } from "../store/Manifest.ts"
import { TEXTS_PER_CALL } from "../embedding/EmbeddingCalls.ts"
import type { PassageEmbedder } from "../embedding/PassageEmbedder.ts"
import type { Collection, StoredDocument } from "../store/PassageIndex.ts"
import { RagError } from "../document/RagError.ts"
import type { TokenEstimate } from "../embedding/TokenEstimate.ts"

/** A plan for bringing the collection up to date with the folder. The same batches as `applyPlan` makes, counted. */
export const planIngest = Effect.fn("Plan.ingest")(function* (
  source: FolderSource,
  collection: Collection,
  manifest: Manifest,
  embedder: PassageEmbedder,
  { per1000Tokens }: PlanOptions
) {
  if (per1000Tokens !== undefined && !(per1000Tokens >= 0 && per1000Tokens < Infinity)) {
    return yield* new RagError({
      stage: "ingest",
      reason: "Malformed",
      message: `per1000Tokens is ${per1000Tokens}, which is no price. Give quota units, 0 or more.`
    })
  }
  const known = new Map((yield* collection.inventory).map((stored) => [stored.info.id, stored]))
  const { failed, files, gone, root } = yield* folderFiles(source, known)
  const fileOf = new Map<string, string>()
  const named = Stream.tap(files, ({ file, path }) => Effect.sync(() => fileOf.set(path, file)))

  const seen = new Set<string>()
  const changes: Array<PlannedChange> = []
  const faults = failed.map(({ error, path }) => ({ path, error }))
  let unchanged = 0
  const note = ({ adopted, drafts, events }: Batch): void => {
    for (const draft of drafts)
      changes.push(changeOf(known.has(draft.info.id) ? "replaced" : "added", draft, fileOf))
    for (const stored of adopted)
      changes.push(
        changeOf(
          isDeepStrictEqual(known.get(stored.info.id)?.info.metadata, stored.info.metadata)
            ? "moved"
            : "metadata",
          stored,
          fileOf
        )
      )
    for (const event of events) {
      if (event.type !== "document") continue
      seen.add(documentId(event.path))
      if (event.status === "failed") faults.push(event)
      else if (event.status === "unchanged") unchanged++
    }
    for (const { info } of drafts) seen.add(info.id)
  }

  const count = counting(embedder)
  yield* batchesOf(named, known, "counted").pipe(
    Stream.runForEach((batch) =>
      Effect.andThen(
        Effect.sync(() => note(batch)),
        count.add(batch)
      )
    )
  )
  for (const { info } of gone(seen)) changes.push(changeOf("removed", { info }, fileOf))

  const { passages, ...embedding } = count.total()
  const number = (change: PlannedChange["change"]) => changes.filter((it) => it.change === change).length
  const plan: IngestPlan = {
    collection: collection.name,
    manifest,
    folder: root,
    changes,
    added: number("added"),
    replaced: number("replaced") + number("metadata"),
    removed: number("removed"),
    unchanged,
    failed: faults.map(({ error, path }) => ({ path, reason: error.reason, message: error.message })),
    passages,
    ...embedding,
    ...(per1000Tokens === undefined ? {} : { cost: costOf(embedding.tokens, per1000Tokens) })
  }
  return plan
})

/** What the embedder would send of the batches, given one after the other. */
const counting = (embedder: PassageEmbedder) => {
  const planned = new Set<string>()
  const total = { passages: 0, texts: 0, cached: 0, calls: 0, tokens: { estimated: 0, atMost: 0 } }
  return {
    total: () => total,
    add: ({ drafts, passages }: Batch): Effect.Effect<void, RagError> =>
      Effect.gen(function* () {
        const texts = drafts.flatMap((draft) => draft.passages)
        const missing = yield* embedder.missing(texts)
        const sent = embedder.remembers ? missing.filter(({ hash }) => !planned.has(hash)) : missing
        for (const { hash, text } of sent) {
          planned.add(hash)
          const tokens = embedder.tokens(text)
          total.tokens = {
            estimated: total.tokens.estimated + tokens.estimated,
            atMost: total.tokens.atMost + tokens.atMost
          }
        }
        total.passages += passages
        total.texts += sent.length
        total.cached += new Set(texts.map(({ hash }) => hash)).size - missing.length
        total.calls += Math.ceil(sent.length / TEXTS_PER_CALL)
      })
  }
}

const changeOf = (
  change: PlannedChange["change"],
  { info: { metadata, passages, path, sha256 }, pictures }: Pick<StoredDocument, "info" | "pictures">,
  fileOf: ReadonlyMap<string, string>
): PlannedChange => ({
  path,
  file: fileOf.get(path) ?? path,
  change,
  sha256,
  passages,
  ...(pictures === undefined ? {} : { pictures }),
  ...(metadata === undefined ? {} : { metadata })
})

/** Whole units, rounded up, as a gateway does. */
const costOf = ({ atMost, estimated }: TokenEstimate, per1000Tokens: number): TokenEstimate => ({
  estimated: Math.ceil((estimated * per1000Tokens) / 1000),
  atMost: Math.ceil((atMost * per1000Tokens) / 1000)
})
