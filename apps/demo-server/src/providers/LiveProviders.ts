/** The providers that the file names, and after each change those that it names then. */
import { Clock, DateTime, Effect, Redacted, Ref, Stream } from "effect"
import { ProvidersFileState } from "../operation/ProvidersFileState.ts"
import { StartError } from "../config/StartError.ts"
import { makeHealth } from "../routing/Health.ts"
import type { Provider } from "../routing/Provider.ts"
import { upstream } from "../routing/UpstreamProvider.ts"
import { changesOf } from "./FileChanges.ts"
import { loadProvidersSettings, type ProvidersSettings } from "./ProvidersSettings.ts"

/** A change that leaves this as it was is none; it is compared, and never shown. */
const fingerprint = ({ embedded, health, upstreams }: ProvidersSettings): string =>
  JSON.stringify({
    embedded,
    health,
    upstreams: upstreams.map((settings) => ({ ...settings, apiKey: Redacted.value(settings.apiKey) }))
  })

const sorted = (library: ProvidersSettings["library"]) => JSON.stringify(Object.entries(library).toSorted())

const LIBRARY_STAYS =
  "`library` says other models than at the start, with which the documents are open: restart the server, or put it back"

/**
 * One list whose content changes: whoever holds it sees at once who answers now. A call under way has found its
 * providers already and goes on with them.
 */
export const liveProviders = Effect.fnUntraced(function* <E, R>(
  file: string,
  embedded: Effect.Effect<Provider, E, R>
) {
  const state = yield* ProvidersFileState
  const own = yield* Effect.cached(embedded)
  const guards = new Map<string, Effect.Success<ReturnType<typeof makeHealth>>>()
  const guardOf = Effect.fnUntraced(function* (health: ProvidersSettings["health"]) {
    const key = JSON.stringify(health)
    const known = guards.get(key) ?? (yield* makeHealth(health))
    guards.set(key, known)
    return known
  })

  const build = Effect.fnUntraced(function* ({ embedded, health, upstreams }: ProvidersSettings) {
    const guard = yield* guardOf(health)
    const gateways = yield* Effect.forEach(upstreams, (settings) =>
      Effect.map(upstream(settings), (provider): Provider => ({
        ...provider,
        guard: guard(settings.id, settings.url)
      }))
    )
    if (embedded === undefined) return gateways
    const provider = yield* own
    const models = provider.models.map((model) => ({ ...model, ...embedded }))
    return [...gateways, { ...provider, models }]
  })

  const first = yield* Effect.mapError(
    loadProvidersSettings(file),
    (why) => new StartError({ message: `${file}: ${why}` })
  )
  const live = [...(yield* build(first))]
  const since = yield* Ref.make({ settings: first, millis: yield* Clock.currentTimeMillis })
  const refused = yield* Ref.make("")
  const told = (list: ReadonlyArray<Provider>) => list.map(({ id }) => id).join(", ")

  const reload = (why: "changed" | "asked") =>
    Effect.gen(function* () {
      const settings = yield* loadProvidersSettings(file)
      if (sorted(first.library) !== sorted(settings.library)) return yield* Effect.fail(LIBRARY_STAYS)
      yield* state.takenOver
      yield* Ref.set(refused, "")
      const { settings: before } = yield* Ref.get(since)
      if (why === "changed" && fingerprint(before) === fingerprint(settings)) return
      const next = yield* build(settings)
      live.splice(0, live.length, ...next)
      yield* Ref.set(since, { settings, millis: yield* Clock.currentTimeMillis })
      yield* Effect.logInfo(`${file} was read again: ${told(next)} answer`)
    }).pipe(
      Effect.catch((fault) =>
        Effect.gen(function* () {
          yield* state.refused
          const reason = String(fault)
          // A log beside the file changes their folder with each of its lines.
          if ((yield* Ref.getAndSet(refused, reason)) === reason && why === "changed") return
          const { millis } = yield* Ref.get(since)
          yield* Effect.logWarning(
            `${file} is not taken over: ${reason}. What it said at ${DateTime.formatIso(DateTime.makeUnsafe(millis))} goes on`
          )
        })
      )
    )

  yield* Effect.logInfo(`${file}: ${told(live)} answer`)
  yield* Effect.forkScoped(Stream.runForEach(changesOf(file), reload))
  return live as ReadonlyArray<Provider>
})
