/** The endpoints by which administrators connect vendors. */
import { ApiKey } from "@sluice/core"
import { Failure } from "@sluice/core/contract"
import { Dialects } from "@sluice/providers"
import { Config, Effect, type FileSystem, Option, type Path, Schema, Struct } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { dirname } from "node:path"
import { rejectUnknown } from "../accounts/AccountRequests.ts"
import { makeAdminGuard } from "../accounts/Administration.ts"
import type { ServerConfig } from "../config/ServerConfig.ts"
import { wrapData } from "../contract/Administration.ts"
import type { ConnectionRequest, Connections } from "../contract/Connections.ts"
import { ServedApi } from "../http/ServedApi.ts"
import type { UpstreamEntry } from "../providers/ProvidersFile.ts"
import { ReloadProviders } from "../providers/ProvidersLayer.ts"
import { readProviders } from "../providers/ProvidersSettings.ts"
import { Providers } from "../routing/Providers.ts"
import { connectionsFile, idOf, removeConnection, saveConnection } from "./SaveConnection.ts"
import { planTries, proposedModels, tryVendor } from "./TryVendor.ts"
import { isSameUpstream, prepareConnection } from "./VendorConnection.ts"
import { type Vendor, vendorOf } from "./Vendors.ts"

const refused = (message: string, param?: string) =>
  new Failure({ status: 400, code: "connection_failed", message, ...(param !== undefined && { param }) })

const unknownConnection = (id: string) =>
  new Failure({ status: 404, code: "not_found", message: `There is no connection ${id}`, param: "id" })

const failed = Effect.mapError((message: string) => refused(message))

const NEW_ADDRESS = "Paste the key: a key that the server has is not sent to another address"

/** The key of a request. A saved key, or the one of a variable, goes only to the address that it is for. */
const keyOf = Effect.fnUntraced(function* (
  request: ConnectionRequest,
  vendor: Vendor | undefined,
  saved: UpstreamEntry | undefined
) {
  const { key, url } = request
  if (typeof key === "string" && key.trim() !== "") {
    const invalid = () => refused("A key is one word of visible characters", "key")
    return { typed: yield* Effect.mapError(Schema.decodeUnknownEffect(ApiKey)(key), invalid) }
  }
  const isSaved = saved !== undefined && isSameUpstream(saved, { dialect: request.vendor, url })
  if (typeof url === "string" && vendor?.keyVariable !== undefined && !isSaved)
    return yield* refused(NEW_ADDRESS, "key")
  return undefined
})

const makeConnections = Effect.gen(function* () {
  const { record, requireAdmin } = yield* makeAdminGuard
  const reload = (yield* ReloadProviders) ?? Effect.void
  const providers = yield* Providers
  const vendors = (yield* Dialects).map(vendorOf)
  const isSet = (name: string) => Effect.map(Config.option(Config.String(name)), Option.isSome)

  const list = Effect.gen(function* () {
    const withKeys = yield* Effect.forEach(vendors, (vendor) =>
      Effect.map(
        vendor.keyVariable === undefined ? Effect.succeed(false) : isSet(vendor.keyVariable),
        (hasKey) => ({ ...vendor, hasKey })
      )
    )
    const none: Connections = { vendors: withKeys, connections: [], library: {} }
    return yield* Effect.flatMap(connectionsFile, readProviders).pipe(
      Effect.map(({ content: { library = {}, upstreams = [] } }): Connections => ({
        ...none,
        connections: upstreams.map((entry) => ({
          id: idOf(entry),
          vendor: entry.dialect ?? "gateway",
          ...Struct.pick(entry, ["url"])
        })),
        library
      })),
      Effect.catch((problem) => Effect.succeed({ ...none, problem }))
    )
  }).pipe(Effect.orDie)

  /** Prepares a request of an administrator. */
  const prepare = Effect.fnUntraced(function* (request: ConnectionRequest) {
    yield* requireAdmin
    yield* rejectUnknown(request.extra)
    const { id, models, url, vendor } = request
    const file = yield* failed(connectionsFile)
    const { content } = yield* failed(readProviders(file))
    const saved = content.upstreams?.find((entry) => idOf(entry) === (id ?? vendor))
    const known = vendors.find((one) => one.id === vendor)
    const key = yield* keyOf(request, known, saved)
    const connection = {
      vendor,
      id: id ?? undefined,
      url: url ?? undefined,
      key,
      models: models ?? undefined
    }
    return yield* failed(prepareConnection(connection, dirname(file), saved))
  })

  return {
    list: Effect.andThen(requireAdmin, list),
    tryOut: Effect.fn("connections.try")(function* (request: ConnectionRequest) {
      const prepared = yield* prepare(request)
      const details = { vendor: request.vendor, url: prepared.settings.url }
      yield* record({ action: "connection.try", subject: prepared.id, details })
      const tries = yield* failed(tryVendor(prepared, planTries(prepared.models, request.media === true)))
      return { models: prepared.models, tries, library: proposedModels(prepared.models, tries) }
    }),
    save: Effect.fn("connections.save")(function* (request: ConnectionRequest) {
      const prepared = yield* prepare(request)
      const library = request.library ?? {}
      yield* failed(saveConnection({ ...prepared, library }, reload))
      const details = { vendor: request.vendor, url: prepared.settings.url, ...library }
      yield* record({ action: "connection.save", subject: prepared.id, details })
      return yield* list
    }),
    remove: Effect.fn("connections.remove")(function* (id: string) {
      yield* requireAdmin
      const { content } = yield* failed(Effect.flatMap(connectionsFile, readProviders))
      if (!content.upstreams?.some((entry) => idOf(entry) === id)) return yield* unknownConnection(id)
      const others = providers.filter((provider) => provider.id !== id)
      yield* failed(removeConnection(id, others, reload))
      yield* record({ action: "connection.remove", subject: id, details: {} })
      return yield* list
    })
  }
})

export const ConnectionsLayer = HttpApiBuilder.group(
  ServedApi,
  "connections",
  Effect.fn(function* (handlers) {
    const connections = yield* makeConnections
    const context = yield* Effect.context<FileSystem.FileSystem | Path.Path | ServerConfig>()
    const run = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.map(Effect.provideContext(effect, context), wrapData)
    return handlers.handleAll({
      list: () => run(connections.list),
      try: ({ payload }) => run(connections.tryOut(payload)),
      save: ({ payload }) => run(connections.save(payload)),
      remove: ({ params }) => run(connections.remove(params.id))
    })
  })
)
