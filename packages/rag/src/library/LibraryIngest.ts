/** The methods of a library that ingest, plan and rebuild. */
import { type Context, Effect, Predicate, type Semaphore, Stream } from "effect"
import type { RagError } from "../document/RagError.ts"
import type { PassageEmbedder } from "../embedding/PassageEmbedder.ts"
import { applyPlan } from "../ingest/ApplyPlan.ts"
import type { IngestEvent } from "../ingest/IngestEvents.ts"
import { asFolder, ingestSource } from "../ingest/IngestSource.ts"
import { planIngest } from "../ingest/Plan.ts"
import type { IngestSource } from "../ingest/sources/Source.ts"
import type { Manifest } from "../store/Manifest.ts"
import type { Collection } from "../store/PassageIndex.ts"
import { lastEvent } from "./LibraryAnswers.ts"
import type { LibraryService } from "./LibraryService.ts"

/** Adds services to a context. */
export type WithContext = (context: Context.Context<never>) => Context.Context<never>

/** Writes at the same time. A rebuild waits for all of them, and they for it. */
export const WRITERS = 1_000

/** What the methods of a library share. */
export interface LibraryParts {
  readonly collection: Effect.Effect<Collection, RagError>
  /** The collection, opened just now. */
  readonly latestCollection: Effect.Effect<Collection, RagError>
  readonly manifest: Manifest
  readonly embedder: PassageEmbedder
  /** Identifiers of the formats that documents may have. */
  readonly formats: ReadonlyArray<string>
  /** One ingest of a folder at a time. Uploads and removals do not wait for it: its source may be slow. */
  readonly folders: Semaphore.Semaphore
  /** `WRITERS` permits. */
  readonly writes: Semaphore.Semaphore
  /** Adds the library's formats and vision model. */
  readonly withServices: WithContext
  /** The same, without a vision model that is paid for: a plan is free, and applying it costs no more than planned. */
  readonly withFreeServices: WithContext
}

/** Runs a stream with permits. */
export const holding =
  (semaphore: Semaphore.Semaphore, permits: number) =>
  <A, E, R>(stream: Stream.Stream<A, E, R>): Stream.Stream<A, E, R> =>
    Stream.unwrap(
      Effect.as(
        Effect.acquireRelease(semaphore.take(permits), () => semaphore.release(permits), {
          interruptible: true
        }),
        stream
      )
    )

export const ingestMethods = (
  { embedder, folders, latestCollection, manifest, withFreeServices, withServices, writes }: LibraryParts,
  rebuildEvents: Stream.Stream<IngestEvent, RagError>
): Pick<LibraryService, "apply" | "applyEvents" | "ingest" | "ingestEvents" | "plan" | "rebuild"> => {
  const asUpload = holding(writes, 1)
  const asFolderIngest = <A, E, R>(stream: Stream.Stream<A, E, R>) => holding(folders, 1)(asUpload(stream))

  const ingestEvents: LibraryService["ingestEvents"] = <E = RagError>(source: IngestSource<E>) =>
    Stream.unwrap(
      Effect.map(latestCollection, (collection) => ingestSource(source, collection, embedder))
    ).pipe(
      (events) => (Predicate.hasProperty(source, "files") ? asUpload(events) : asFolderIngest(events)),
      Stream.updateContext(withServices)
    )

  const applyEvents: LibraryService["applyEvents"] = (plan) =>
    Stream.unwrap(
      Effect.map(latestCollection, (collection) => applyPlan(plan, collection, manifest, embedder))
    ).pipe(asFolderIngest, Stream.updateContext(withFreeServices))

  return {
    ingestEvents,
    ingest: <E = RagError>(source: IngestSource<E>) =>
      Effect.withSpan(reportOf(ingestEvents(source)), "Library.ingest"),
    plan: Effect.fn("Library.plan")(function* (source, options) {
      const collection = yield* latestCollection
      return yield* planIngest(asFolder(source), collection, manifest, embedder, options ?? {}).pipe(
        Effect.updateContext(withFreeServices)
      )
    }),
    apply: Effect.fn("Library.apply")((plan) => reportOf(applyEvents(plan))),
    applyEvents,
    rebuild: rebuildEvents.pipe(holding(writes, WRITERS), Stream.updateContext(withServices))
  }
}

export const reportOf = <E, R>(events: Stream.Stream<IngestEvent, E, R>) =>
  Effect.map(
    lastEvent(events, (event) => event.type === "done"),
    ({ report }) => report
  )
