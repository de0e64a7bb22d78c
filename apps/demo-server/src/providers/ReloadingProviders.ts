/** The providers of the providers' file, reloaded when it changes. */
import { DateTime, Effect, FileSystem, Path, Queue, Redacted, Ref, Stream } from "effect"
import { ProvidersFileState } from "../operation/ProvidersFileState.ts"
import { makeCircuitGuards } from "../routing/ProviderCircuits.ts"
import type { Provider } from "../routing/Provider.ts"
import { upstream } from "../routing/UpstreamProvider.ts"
import {
  forgetModelLists,
  invalidFile,
  loadProvidersSettings,
  type ProvidersSettings
} from "./ProvidersSettings.ts"

/** SIGHUP requests a reload. At a terminal it means that the terminal was closed, and ends the server. */
const reloadSignals = process.stdin.isTTY
  ? Stream.never
  : Stream.callback<"signal">((queue) => {
      const onSignal = () => void Queue.offerUnsafe(queue, "signal")
      return Effect.acquireRelease(
        Effect.sync(() => process.on("SIGHUP", onSignal)),
        () => Effect.sync(() => process.off("SIGHUP", onSignal))
      )
    })

/**
 * Emits `changed` after a change in the file's folder, and `signal` after SIGHUP. It watches the folder because editors
 * and container platforms replace the file, or a link to it.
 */
const watchFile = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const changes = fs.watch(path.dirname(file)).pipe(
    // Editors write in several steps.
    Stream.debounce("100 millis"),
    Stream.map(() => "changed" as const),
    Stream.catch((error) =>
      Stream.fromEffectDrain(
        Effect.logWarning(`${file} cannot be watched (${error.message}). Send SIGHUP to reload it`)
      )
    )
  )
  return Stream.merge(changes, reloadSignals)
})

/** Equal for settings that make no difference. It contains keys, and is never shown. */
const fingerprint = ({ embedded, health, upstreams }: ProvidersSettings): string =>
  JSON.stringify({
    embedded,
    health,
    upstreams: upstreams.map((settings) => ({ ...settings, apiKey: Redacted.value(settings.apiKey) }))
  })

const libraryOf = ({ library }: ProvidersSettings) => JSON.stringify(Object.entries(library).toSorted())

const LIBRARY_CHANGED =
  "`library` names other models than at the start, but the library is open with those. Restart the server, or undo the change"

const namesOf = (providers: ReadonlyArray<Provider>) => providers.map(({ id }) => id).join(", ")

/** Builds the providers. Upstreams with the same circuit settings keep their circuits over reloads. */
const makeBuilder = Effect.fnUntraced(function* <E, R>(embedded: Effect.Effect<Provider, E, R>) {
  const embeddedOnce = yield* Effect.cached(embedded)
  const guards = new Map<string, Effect.Success<ReturnType<typeof makeCircuitGuards>>>()
  return Effect.fnUntraced(function* ({ embedded, health, upstreams }: ProvidersSettings) {
    const key = JSON.stringify(health)
    const guard = guards.get(key) ?? (yield* makeCircuitGuards(health))
    guards.set(key, guard)
    const gateways = yield* Effect.forEach(upstreams, (settings) =>
      Effect.map(upstream(settings), (provider): Provider => ({
        ...provider,
        guard: guard(settings.id, settings.url)
      }))
    )
    if (embedded === undefined) return gateways
    const provider = yield* embeddedOnce
    const models = provider.models.map((model) => ({ ...model, ...embedded }))
    return [...gateways, { ...provider, models }]
  })
})

/** One list that is updated in place at each reload. Running calls keep the providers that they have. */
export const reloadingProviders = Effect.fnUntraced(function* <E, R>(
  file: string,
  embedded: Effect.Effect<Provider, E, R>
) {
  const state = yield* ProvidersFileState
  const build = yield* makeBuilder(embedded)
  const first = yield* Effect.mapError(loadProvidersSettings(file), invalidFile(file))
  const providers = [...(yield* build(first))]
  const loaded = yield* Ref.make({ settings: first, time: yield* DateTime.now })
  const lastError = yield* Ref.make("")

  const reload = (trigger: "changed" | "signal") =>
    Effect.gen(function* () {
      if (trigger === "signal") yield* forgetModelLists
      const settings = yield* loadProvidersSettings(file)
      if (libraryOf(first) !== libraryOf(settings)) return yield* Effect.fail(LIBRARY_CHANGED)
      yield* state.setRejected(false)
      yield* Ref.set(lastError, "")
      const { settings: before } = yield* Ref.get(loaded)
      if (trigger === "changed" && fingerprint(before) === fingerprint(settings)) return
      const next = yield* build(settings)
      providers.splice(0, providers.length, ...next)
      yield* Ref.set(loaded, { settings, time: yield* DateTime.now })
      yield* Effect.logInfo(`${file} was reloaded. Providers: ${namesOf(next)}`)
    }).pipe(
      Effect.catch(
        Effect.fnUntraced(function* (error) {
          yield* state.setRejected(true)
          const reason = String(error)
          // If the log file is in the same folder, each line changes the folder.
          if ((yield* Ref.getAndSet(lastError, reason)) === reason && trigger === "changed") return
          const { time } = yield* Ref.get(loaded)
          yield* Effect.logWarning(
            `${file} was not reloaded: ${reason}. The version of ${DateTime.formatIso(time)} stays in use`
          )
        })
      )
    )

  yield* Effect.logInfo(`${file} was loaded. Providers: ${namesOf(providers)}`)
  yield* Effect.forkScoped(Stream.runForEach(yield* watchFile(file), reload))
  return providers as ReadonlyArray<Provider>
})
