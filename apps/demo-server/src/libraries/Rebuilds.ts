/** The rebuilds of several collections, one after the other, and their progress. */
import { type IngestEvent, type IngestReport, Library, type PlanOptions, type RagError } from "@sluice/rag"
import { type StoreOptions, sumPlans } from "@sluice/rag/store"
import { Effect, Record, type Scope, Stream } from "effect"
import type { IngestStreamEvent } from "../contract/index.ts"
import { DEFAULT_COLLECTION } from "../contract/Names.ts"
import { toStreamEvents } from "./IngestBody.ts"

/** Counts the documents that a rebuild has done, of those that it has found. */
export const makeProgress = () => {
  let done = 0
  let found = 0
  return {
    message: (): string =>
      `The library is being rebuilt: ${done} of ${found} documents are done. Ask again when it is complete.`,
    of: <E, R>(events: Stream.Stream<IngestEvent, E, R>) =>
      Stream.suspend(() => {
        done = found = 0
        return Stream.tap(events, (event) =>
          Effect.sync(() => {
            if (event.type === "found") found += event.files
            if (event.type === "document") done++
          })
        )
      })
  }
}

const addReports = ({ failed, ...counts }: IngestReport, other: IngestReport): IngestReport => ({
  ...Record.map(counts, (count, name) => count + other[name]),
  failed: [...failed, ...other.failed]
})

/** Runs rebuilds one after the other. Emits one `done`, with the sum of the reports. A damaged collection fails at the end. */
const concatRebuilds = (rebuilds: ReadonlyArray<Stream.Stream<IngestEvent, RagError>>) =>
  Stream.suspend((): Stream.Stream<IngestEvent, RagError> => {
    const reports: Array<IngestReport> = []
    let damage: RagError | undefined
    const keepDamage = (error: RagError) => Stream.drain(Stream.sync(() => (damage ??= error)))
    const end = Effect.suspend(() =>
      damage === undefined
        ? Effect.succeed({ type: "done" as const, report: reports.reduce(addReports) })
        : Effect.fail(damage)
    )
    return Stream.fromIterable(rebuilds).pipe(
      Stream.flatMap((rebuild) => Stream.catchIf(rebuild, ({ reason }) => reason === "Damaged", keepDamage)),
      Stream.tap((event) => Effect.sync(() => event.type === "done" && reports.push(event.report))),
      Stream.filter(({ type }) => type !== "done"),
      Stream.concat(Stream.fromEffect(end))
    )
  })

/** The rebuilds of all collections of a user. `start` marks the library as busy, for as long as the surrounding scope. */
export const makeRebuilds = ({
  names,
  progress,
  rebuildOne,
  start
}: {
  readonly names: Effect.Effect<ReadonlyArray<string>, RagError>
  readonly progress: ReturnType<typeof makeProgress>
  readonly rebuildOne: (name: string) => Stream.Stream<IngestEvent, RagError>
  readonly start: Effect.Effect<void, never, Scope.Scope>
}) => {
  const rebuilt = Effect.map(names, (all) => [...new Set([DEFAULT_COLLECTION, ...all])])
  /** One collection after the other. */
  const all: Stream.Stream<IngestStreamEvent, RagError> = Stream.unwrap(
    Effect.gen(function* () {
      yield* start
      const events = progress.of(concatRebuilds((yield* rebuilt).map(rebuildOne)))
      return Stream.flatMap(events, (event) => Stream.fromIterable(toStreamEvents(event)))
    })
  )
  return {
    all,
    /** What `all` would embed. */
    plan: (folder: string, store: StoreOptions) =>
      Effect.fnUntraced(function* (options: PlanOptions) {
        const plans = yield* Effect.forEach(yield* rebuilt, (collection) =>
          Library.planRebuild(folder, { ...store, ...options, collection })
        )
        return sumPlans(plans)
      })
  }
}
