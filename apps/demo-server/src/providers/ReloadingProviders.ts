/** The providers of the providers' file, reloaded when it changes. */
import {
  DateTime,
  Effect,
  Equal,
  Exit,
  FileSystem,
  Layer,
  Path,
  Queue,
  Ref,
  Schedule,
  Scope,
  Semaphore,
  Stream
} from "effect"
import { ServerConfig } from "../config/ServerConfig.ts"
import { dataFolderError } from "../config/StartError.ts"
import { ProvidersFileState } from "../operation/ProvidersFileState.ts"
import { makeCircuitGuards } from "../routing/ProviderCircuits.ts"
import type { Provider } from "../routing/Provider.ts"
import { LIST_AGAIN } from "../routing/Providers.ts"
import { upstream } from "../routing/UpstreamProvider.ts"
import { CurrentModels, replacedLife } from "./CurrentModels.ts"
import { layerNamedModels } from "./LibraryModels.ts"
import { forgetModelLists } from "./ListedModels.ts"
import { makePriceWarning } from "./PriceWarning.ts"
import {
  connectionsFolder,
  orInvalidFile,
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
  const folder = path.dirname(file)
  if (folder === (yield* connectionsFolder)) {
    const { data } = yield* ServerConfig
    yield* Effect.mapError(fs.makeDirectory(folder, { recursive: true, mode: 0o700 }), dataFolderError(data))
  }
  const changes = fs.watch(folder).pipe(
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

/** What calls depend on. */
const callsOf = ({
  embedded,
  health,
  upstreams
}: Pick<ProvidersSettings, "embedded" | "health" | "upstreams">) => ({ embedded, health, upstreams })

/** What the library's models and their calls depend on. */
const modelsOf = ({ isLibraryUnlisted, library, localModels, ...settings }: ProvidersSettings) =>
  Object.keys(library).length === 0
    ? [localModels, isLibraryUnlisted]
    : [localModels, library, callsOf(settings)]

/** Replaces the library's models. Running calls keep theirs. `release` closes the new ones. */
const replaceModels = Effect.fnUntraced(function* (settings: ProvidersSettings) {
  const current = yield* CurrentModels
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(layerNamedModels(settings), scope).pipe(
    Effect.mapError(({ message }) => message),
    Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
  )
  const next = { context, from: settings.forLibrary ? settings.from : undefined }
  const before = yield* Ref.getAndSet(current, next)
  return { release: Scope.close(scope, Exit.void), life: replacedLife(before, next) }
})

/** The upstreams whose models are known. A reload must not lose them. */
const listedIds = ({ upstreams }: ProvidersSettings): ReadonlySet<string> =>
  new Set(upstreams.flatMap(({ id, isUnlisted }) => (isUnlisted ? [] : [id])))

const hasUnlisted = ({ upstreams }: ProvidersSettings) => upstreams.some(({ isUnlisted }) => isUnlisted)

/** Why the providers are loaded: the file has changed, a signal, or a vendor has to be asked for its models again. */
type Trigger = "changed" | "signal" | "again"

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
export const reloadingProviders = Effect.fnUntraced(function* <E extends { readonly message: string }, R>(
  file: string,
  embedded: Effect.Effect<Provider, E, R>
) {
  const state = yield* ProvidersFileState
  const scope = yield* Effect.scope
  const releaseModels = yield* Ref.make(Effect.void)
  yield* Effect.addFinalizer(() => Effect.flatten(Ref.get(releaseModels)))
  const build = yield* makeBuilder(embedded)
  const warnOfUnpriced = yield* makePriceWarning
  const first = yield* orInvalidFile(file)(loadProvidersSettings(file))
  const providers = [...(yield* build(first))]
  yield* warnOfUnpriced(providers)
  const loaded = yield* Ref.make({ settings: first, time: yield* DateTime.now })
  const lastError = yield* Ref.make("")
  const oneAtATime = yield* Semaphore.make(1)

  const load = Effect.fnUntraced(function* (trigger: Trigger) {
    if (trigger === "signal") yield* forgetModelLists
    const { settings: before } = yield* Ref.get(loaded)
    const listing = { again: trigger === "again", required: listedIds(before) }
    const settings = yield* loadProvidersSettings(file, listing)
    const isSame = Equal.equals(callsOf(before), callsOf(settings))
    const isSameLibrary = Equal.equals(modelsOf(before), modelsOf(settings))
    if (trigger === "signal" || !isSame || !isSameLibrary) {
      const next = yield* build(settings)
      if (!isSameLibrary) {
        const { life, release } = yield* replaceModels(settings)
        const replaced = yield* Ref.getAndSet(releaseModels, release)
        yield* Effect.forkIn(Effect.delay(replaced, life), scope)
      }
      providers.splice(0, providers.length, ...next)
      yield* Ref.set(loaded, { settings, time: yield* DateTime.now })
      yield* Effect.logInfo(`${file} was reloaded. Providers: ${namesOf(next)}`)
      yield* warnOfUnpriced(next)
    }
    yield* state.setRejected(false)
    yield* Ref.set(lastError, "")
  }, oneAtATime.withPermit)

  const reload = (trigger: Trigger) =>
    load(trigger).pipe(
      Effect.catch(
        Effect.fnUntraced(function* (error) {
          yield* state.setRejected(true)
          const reason = String(error)
          // If the log file is in the same folder, each line changes the folder.
          if ((yield* Ref.getAndSet(lastError, reason)) === reason && trigger !== "signal") return
          const { time } = yield* Ref.get(loaded)
          yield* Effect.logWarning(
            `${file} was not reloaded: ${reason}. The version of ${DateTime.formatIso(time)} stays in use`
          )
        })
      )
    )

  if (first.from !== undefined) {
    yield* Effect.logInfo(`${first.from} was loaded. Providers: ${namesOf(providers)}`)
  }
  const unlisted = Stream.fromSchedule(Schedule.spaced(LIST_AGAIN)).pipe(
    Stream.filterEffect(() => Effect.map(Ref.get(loaded), ({ settings }) => hasUnlisted(settings))),
    Stream.map(() => "again" as const)
  )
  const triggers = Stream.merge(yield* watchFile(file), unlisted)
  yield* Effect.forkScoped(Stream.runForEach(triggers, reload))
  const context = yield* Effect.context<Effect.Services<ReturnType<typeof load>>>()
  const reloadNow = load("again").pipe(
    Effect.mapError((error) => (typeof error === "string" ? error : error.message)),
    Effect.provideContext(context)
  )
  return { providers: providers as ReadonlyArray<Provider>, reload: reloadNow }
})
