/** The methods of a library that ingest, plan and rebuild. */
import { type Context, Effect, type Semaphore, Stream } from "effect"
import type { RagError } from "../document/RagError.ts"
import type { PassageEmbedder } from "../embedding/PassageEmbedder.ts"
import { applyPlan } from "../ingest/ApplyPlan.ts"
import type { IngestEvent } from "../ingest/IngestEvents.ts"
import { asFolder, ingestSource } from "../ingest/IngestSource.ts"
import { planIngest } from "../ingest/Plan.ts"
import type { Manifest } from "../store/Manifest.ts"
import type { Collection } from "../store/PassageIndex.ts"
import { lastEvent } from "./LibraryAnswers.ts"
import type { LibraryService } from "./LibraryService.ts"

/** Adds services to a context. */
export type WithContext = (context: Context.Context<never>) => Context.Context<never>

/** What the methods of a library share. */
export interface LibraryParts {
  readonly collection: Effect.Effect<Collection, RagError>
  /** The collection, opened just now. */
  readonly latestCollection: Effect.Effect<Collection, RagError>
  readonly manifest: Manifest
  readonly embedder: PassageEmbedder
  readonly writes: Semaphore.Semaphore
  /** Adds the library's formats and vision model. */
  readonly withServices: WithContext
  /** The same, without a vision model that is paid for: a plan is free, and applying it costs no more than planned. */
  readonly withFreeServices: WithContext
}

export const ingestMethods = (
  { embedder, latestCollection, manifest, withFreeServices, withServices, writes }: LibraryParts,
  rebuildEvents: Stream.Stream<IngestEvent, RagError>
): Pick<LibraryService, "apply" | "applyEvents" | "ingest" | "ingestEvents" | "plan" | "rebuild"> => {
  const exclusively = <A>(stream: Effect.Effect<Stream.Stream<A, RagError>, RagError>) =>
    Stream.unwrap(
      Effect.andThen(
        Effect.acquireRelease(writes.take(1), () => writes.release(1), { interruptible: true }),
        stream
      )
    )

  const ingestEvents: LibraryService["ingestEvents"] = (source) =>
    exclusively(
      Effect.map(latestCollection, (collection) => ingestSource(source, collection, embedder))
    ).pipe(Stream.updateContext(withServices))

  const applyEvents: LibraryService["applyEvents"] = (plan) =>
    exclusively(
      Effect.map(latestCollection, (collection) => applyPlan(plan, collection, manifest, embedder))
    ).pipe(Stream.updateContext(withFreeServices))

  return {
    ingestEvents,
    ingest: Effect.fn("Library.ingest")((source) => reportOf(ingestEvents(source))),
    plan: Effect.fn("Library.plan")(function* (source, options) {
      const collection = yield* latestCollection
      return yield* planIngest(asFolder(source), collection, manifest, embedder, options ?? {}).pipe(
        Effect.updateContext(withFreeServices)
      )
    }),
    apply: Effect.fn("Library.apply")((plan) => reportOf(applyEvents(plan))),
    applyEvents,
    rebuild: exclusively(Effect.succeed(rebuildEvents)).pipe(Stream.updateContext(withServices))
  }
}

const reportOf = (events: Stream.Stream<IngestEvent, RagError>) =>
  Effect.map(
    lastEvent(events, (event) => event.type === "done"),
    ({ report }) => report
  )
