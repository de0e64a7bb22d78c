/** A plan carried out: exactly what it says, and again from where it was when it is interrupted. */
import { Effect, Schema, Stream } from "effect"
import { FORMAT, type Manifest } from "../store/Manifest.ts"
import type { SourceFile } from "./Batches.ts"
import { documentEvent, failedEvent } from "./DocumentEvent.ts"
import { documentId } from "./Draft.ts"
import { ingestFiles } from "./Ingest.ts"
import type { IngestEvent } from "./IngestReport.ts"
import { IngestPlan, type PlannedChange } from "./IngestPlan.ts"
import { type PassageEmbedder, sha256 } from "../embedding/PassageEmbedder.ts"
import type { Collection, StoredDocument } from "../store/PassageIndex.ts"
import { sameStill } from "./sources/PicturesBeside.ts"
import { RagError } from "../document/RagError.ts"
import { reported } from "./Reported.ts"
import { isThere, pictureBeside, readSource } from "./sources/SourceFiles.ts"

/**
 * Writes and removes what the plan names, in its order and in the batches it counted, embedding no more than it says.
 *
 * **Details.** A file that is not as it was planned, and a document to be removed that is not as it was or whose file
 * is there again, are told as failed with `Stale` and left out. What the collection already has is unchanged: a plan
 * may be applied again after a crash.
 */
export const applyPlan = (
  plan: IngestPlan,
  into: Collection,
  manifest: Manifest,
  embedder: PassageEmbedder
): Stream.Stream<IngestEvent, RagError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      yield* checkPlan(plan, into, manifest)
      const known = new Map((yield* into.inventory).map((stored) => [stored.info.id, stored]))
      const writes = plan.changes.filter(({ change }) => change !== "removed")
      const files = writes.map((change) => plannedFile(plan.folder, change))
      const limited = embedder.within({ calls: plan.calls, texts: plan.texts })
      const written = ingestFiles(Stream.fromIterable(files), into, limited, known, "counted")
      const removals = plan.changes.filter(({ change }) => change === "removed")
      const end = Effect.tap(remove(plan.folder, removals, known, into), into.settle)
      return reported(plan.changes.length, written, end, [])
    })
  )

const isPlan = Schema.is(IngestPlan)

/** Fails with `Stale` unless the plan was made for this collection and these models. */
const checkPlan = (plan: IngestPlan, into: Collection, manifest: Manifest): Effect.Effect<void, RagError> => {
  if (!isPlan(plan)) return Effect.fail(stale("This is no plan. Nothing was done. Make one with `plan`."))
  const was = { ...plan.manifest, collection: plan.collection, format: FORMAT }
  const is = { ...manifest, collection: into.name, format: FORMAT }
  const other = (["collection", "embeddingModel", "dimension", "chunker"] as const).filter(
    (key) => was[key] !== is[key]
  )
  return other.length === 0
    ? Effect.void
    : Effect.fail(
        stale(
          `The plan was made for ${other.map((key) => `${key} ${was[key]}, and this is ${is[key]}`).join("; ")}. Nothing was done. Make a new plan.`
        )
      )
}

/** A file that is read only as it was when it was planned, its pictures too. */
const plannedFile = (
  folder: string,
  { file, metadata, path, pictures, sha256: planned }: PlannedChange
): SourceFile => {
  const picture = pictureBeside(folder, file)
  return {
    path,
    source: folder,
    read: readSource(folder, file).pipe(
      Effect.catchIf(
        ({ reason }) => reason === "NotFound",
        () =>
          Effect.fail(stale(`${path} is gone since it was planned. It was left out; make a new plan.`, path))
      ),
      Effect.filterOrFail(
        (bytes) => sha256(bytes) === planned,
        () => stale(`${path} changed since it was planned. It was left out, unpaid; make a new plan.`, path)
      ),
      Effect.tap(() =>
        Effect.flatMap(sameStill(pictures ?? [], picture), (same) =>
          same
            ? Effect.void
            : Effect.fail(
                stale(
                  `A picture in ${path} changed since it was planned. The document was left out, unpaid; make a new plan.`,
                  path
                )
              )
        )
      )
    ),
    metadata: Effect.succeed(metadata),
    picture
  }
}

const remove = Effect.fn("Apply.remove")(function* (
  folder: string,
  removals: ReadonlyArray<PlannedChange>,
  known: ReadonlyMap<string, StoredDocument>,
  into: Collection
) {
  const due: Array<StoredDocument> = []
  const events: Array<IngestEvent> = []
  for (const { file, path, sha256: planned } of removals) {
    const stored = known.get(documentId(path))
    if (stored === undefined) continue
    const back = stored.source !== folder || (yield* isThere(folder, file))
    if (back || stored.info.sha256 !== planned)
      events.push(
        failedEvent(
          path,
          stale(
            `${path} was to be removed, and ${back ? "its file is there again" : "has another version now"}. It was kept; make a new plan.`,
            path
          )
        )
      )
    else due.push(stored)
  }
  yield* into.remove(due.map(({ info }) => info.id))
  return [...events, ...due.map(({ info }) => documentEvent(info, "removed"))]
})

const stale = (message: string, document?: string): RagError =>
  new RagError({ stage: "ingest", reason: "Stale", message, ...(document === undefined ? {} : { document }) })
