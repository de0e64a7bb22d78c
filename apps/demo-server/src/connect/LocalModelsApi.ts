/** The endpoints by which administrators get local models and use them. */
import { Failure } from "@sluice/core/contract"
import { bytesOf, Local, memoryShortage } from "@sluice/transformers"
import { Effect, Exit, FiberHandle, type FileSystem, type Path, Ref, Semaphore, Struct } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { rejectUnknown } from "../accounts/AccountRequests.ts"
import { makeAdminGuard } from "../accounts/Administration.ts"
import { ServerConfig } from "../config/ServerConfig.ts"
import { StartError } from "../config/StartError.ts"
import { wrapData } from "../contract/Administration.ts"
import type {
  LocalModels,
  LocalModelSetRequest,
  LocalModelUseRequest,
  ModelDownload
} from "../contract/LocalModels.ts"
import { ServedApi } from "../http/ServedApi.ts"
import { listLocalModels, pullNamed } from "../providers/LocalModels.ts"
import { findLocalServers, parsePorts } from "../providers/LocalServers.ts"
import { ReloadProviders } from "../providers/ProvidersLayer.ts"
import { readProviders } from "../providers/ProvidersSettings.ts"
import { connectionsFile, saveLocalModels } from "./SaveConnection.ts"

const refused = (message: string, param?: string) =>
  new Failure({ status: 400, code: "local_models_failed", message, ...(param !== undefined && { param }) })

const isBusy = (set: string) =>
  new Failure({ status: 409, code: "download_running", message: `${set} is being downloaded`, param: "set" })

/** The set that the library uses, and why it can use none. */
const localModelsInUse = Effect.gen(function* () {
  const { localModels } = yield* ServerConfig
  return yield* Effect.flatMap(connectionsFile, readProviders).pipe(
    Effect.map(({ content: { library = {}, localModels: named = localModels } }) =>
      named === undefined || library.embedding !== undefined ? {} : { used: named }
    ),
    Effect.catch((problem) => Effect.succeed({ problem }))
  )
})

const listModels = Effect.gen(function* () {
  const { folder, models, sets } = yield* Effect.mapError(listLocalModels, ({ message }) => refused(message))
  const missingRuntime = Local.missingRuntime()
  return {
    folder,
    sets: Object.keys(sets).map((name) => {
      const members = models.filter((model) => model.sets.includes(name))
      const chat = members.filter(({ kind }) => kind === "chat")
      const install = Local.missingRuntime(chat.map(({ kind }) => kind))
      const shortage = memoryShortage(bytesOf(chat))
      return {
        name,
        ...(install !== undefined && { missingRuntime: install }),
        ...(shortage !== undefined && { memoryShortage: shortage }),
        pulled: members.every(({ pulled }) => pulled),
        models: members.map((model) =>
          Struct.pick(model, ["id", "kind", "languages", "licence", "bytes", "note"])
        )
      }
    }),
    ...(missingRuntime !== undefined && { missingRuntime }),
    ...(yield* localModelsInUse)
  } satisfies LocalModels
})

/** `SLUICE_LOCAL_SERVERS`. */
const localServerPorts = Effect.gen(function* () {
  const { localServers } = yield* ServerConfig
  const pairs = (localServers?.split(",") ?? []).map((pair): readonly [string, string] => {
    const [name = "", port = ""] = pair.trim().split("=", 2)
    return [name, port]
  })
  return yield* Effect.mapError(
    parsePorts(pairs),
    (message) => new StartError({ message: `SLUICE_LOCAL_SERVERS: ${message}` })
  )
})

/** One download at a time, in the background. */
const makeDownloads = Effect.gen(function* () {
  const last = yield* Ref.make<ModelDownload | undefined>(undefined)
  const running = yield* FiberHandle.make()
  const oneAtATime = yield* Semaphore.make(1)

  const start = Effect.fnUntraced(function* (set: string) {
    const now = yield* Ref.get(last)
    if (now?.state === "running") return yield* isBusy(now.set)
    const change = (to: Partial<ModelDownload>) =>
      Ref.update(last, (before) => ({ set, state: "running" as const, done: 0, total: 0, ...before, ...to }))
    yield* Ref.set(last, { set, state: "running", done: 0, total: 0 })
    const pull = pullNamed(set, { onProgress: (done, total) => change({ done, total }) }).pipe(
      Effect.matchEffect({
        onFailure: ({ message }) => change({ state: "failed", message }),
        onSuccess: () => change({ state: "done" })
      }),
      Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : change({ state: "cancelled" })))
    )
    yield* FiberHandle.run(running, pull)
  }, oneAtATime.withPermit)

  return { last: Ref.get(last), start, cancel: FiberHandle.clear(running) }
})

const makeLocalModels = Effect.gen(function* () {
  const { record, requireAdmin } = yield* makeAdminGuard
  const reload = (yield* ReloadProviders) ?? Effect.void
  const downloads = yield* makeDownloads
  const ports = yield* localServerPorts

  const list = Effect.gen(function* () {
    const download = yield* downloads.last
    return { ...(yield* listModels), ...(download !== undefined && { download }) }
  })

  /** A set of the catalogue. */
  const find = Effect.fnUntraced(function* (name: string) {
    const { sets } = yield* listModels
    const found = sets.find((one) => one.name === name)
    const names = sets.map((one) => one.name).join(", ")
    return found ?? (yield* refused(`There is no set ${name}. Sets: ${names}`, "set"))
  })

  return {
    list: Effect.andThen(requireAdmin, list),
    servers: Effect.andThen(
      requireAdmin,
      Effect.map(findLocalServers(ports), (servers) => ({ servers }))
    ),
    download: Effect.fn("localModels.download")(function* (payload: typeof LocalModelSetRequest.Type) {
      yield* requireAdmin
      yield* rejectUnknown(payload.extra)
      const { name } = yield* find(payload.set)
      yield* downloads.start(name)
      yield* record({ action: "local_models.download", subject: name })
      return yield* list
    }),
    cancel: Effect.gen(function* () {
      yield* requireAdmin
      yield* downloads.cancel
      return yield* list
    }),
    use: Effect.fn("localModels.use")(function* (payload: typeof LocalModelUseRequest.Type) {
      yield* requireAdmin
      yield* rejectUnknown(payload.extra)
      const set = payload.set === null ? undefined : (yield* find(payload.set)).name
      yield* Effect.mapError(saveLocalModels(set, reload), (message) => refused(message))
      yield* record({ action: "local_models.use", subject: set ?? "none" })
      return yield* list
    })
  }
})

export const LocalModelsLayer = HttpApiBuilder.group(
  ServedApi,
  "localModels",
  Effect.fn(function* (handlers) {
    const models = yield* makeLocalModels
    const context = yield* Effect.context<FileSystem.FileSystem | Path.Path | ServerConfig>()
    const run = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.map(Effect.provideContext(effect, context), wrapData)
    return handlers.handleAll({
      list: () => run(models.list),
      servers: () => run(models.servers),
      download: ({ payload }) => run(models.download(payload)),
      cancel: () => run(models.cancel),
      use: ({ payload }) => run(models.use(payload))
    })
  })
)
