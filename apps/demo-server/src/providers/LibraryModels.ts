/** The library's models: embedded ones, a configured gateway's, or those that the providers' file names. */
import {
  GatewayEmbedder,
  GatewayReader,
  GatewayReranker,
  GatewayRewriter,
  GatewayVerifier,
  GatewayVision,
  type Verifier,
  Vision
} from "@sluice/core"
import * as Embedded from "@sluice/embedded"
import { layerVision } from "@sluice/embedded/vision"
import { type Dialect, gateway, knownModel } from "@sluice/providers"
import { Local, TransformersVerifier } from "@sluice/transformers"
import { Context, Effect, Layer } from "effect"
import { ServerConfig } from "../config/ServerConfig.ts"
import { gatewayError, StartError } from "../config/StartError.ts"
import type { UpstreamSettings } from "../routing/UpstreamProvider.ts"
import { unlistedModels } from "../routing/Providers.ts"
import { layerLibraryGateway } from "./LibraryGateway.ts"
import { layerUnlistedModels } from "./UnlistedModels.ts"
import { LIBRARY_OPERATIONS, type LibraryNames } from "./ProvidersFile.ts"
import {
  gatewayUpstream,
  loadProvidersSettings,
  orInvalidFile,
  providersPlace,
  type ProvidersSettings,
  readProviders
} from "./ProvidersSettings.ts"

/** The gateway's address or the file that names models; undefined if all models are of this machine. */
export const modelsFrom = Effect.gen(function* () {
  const place = yield* providersPlace
  if (typeof place !== "string") return place.url
  const { forLibrary, from } = yield* orInvalidFile(place)(readProviders(place))
  return forLibrary ? from : undefined
})

/**
 * A gateway's model looks at figures, if one is named. The embedded OCR reads scanned pages and the lines of a picture with
 * their boxes, which no gateway returns, unless the model is to read them.
 */
const layerVisionModel = (model: string | undefined) =>
  model === undefined
    ? layerVision
    : Layer.effect(
        Vision,
        Effect.gen(function* () {
          const reads = (yield* ServerConfig).scans === "model"
          const vision = Context.get(yield* Layer.build(GatewayVision.layer({ model, reads })), Vision)
          if (reads) return vision
          const { read, reader } = Context.get(yield* Layer.build(layerVision), Vision)
          return Vision.of({ ...vision, ...(read && { read }), ...(reader !== undefined && { reader }) })
        })
      )

/** The model that answers also completes follow-ups. */
const layerChatModel = ({ model }: { readonly model: string }) =>
  Layer.merge(GatewayReader.layer({ model }), GatewayRewriter.layer({ model }))

/** The verifier that is configured. `ofModel` is that of a chat model, if one is named. */
const layerVerifier = <E, R>(ofModel: Layer.Layer<Verifier, E, R> | undefined) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { nliModel = "", verifier } = yield* ServerConfig
      if (verifier === "embedded") return Embedded.layerVerifier
      if (verifier === "strict") return Embedded.layerStrictVerifier
      const install = verifier === "nli" ? Local.missingRuntime() : undefined
      if (install !== undefined)
        return yield* new StartError({ message: `SLUICE_VERIFIER is nli. It needs a package: ${install}` })
      if (verifier === "nli") return TransformersVerifier.layer({ model: nliModel })
      if (verifier === "model" && ofModel === undefined) {
        const message =
          "SLUICE_VERIFIER is model. Name a chat model: SLUICE_VERIFY_MODEL with a gateway, or `verify` in the providers file"
        return yield* new StartError({ message })
      }
      return ofModel ?? Layer.empty
    })
  )

/**
 * The models of this machine: the embedded ones, or those of the set that the file or `SLUICE_LOCAL_MODELS` names in their
 * place. The embedded reader stays where the set has none.
 */
const layerMachineModels = (named: string | undefined) =>
  Layer.unwrap(
    Effect.map(ServerConfig, ({ localModels }) => {
      const set = named ?? localModels
      return set === undefined ? Embedded.layer : Layer.merge(Embedded.layerReader, Local.layer({ set }))
    })
  ).pipe(
    Layer.catchTag("GatewayError", ({ message }) => {
      const place = named === undefined ? "SLUICE_LOCAL_MODELS" : "`localModels`"
      return Layer.effectContext(Effect.fail(new StartError({ message: `${place}: ${message}` })))
    })
  )

type Use = keyof typeof LIBRARY_OPERATIONS

/** The upstream with the highest priority that has the model. */
const findModel = (upstreams: ReadonlyArray<UpstreamSettings>, use: Use, name: string) =>
  upstreams
    .flatMap((upstream) => upstream.models.map((model) => ({ upstream, model })))
    .filter(({ model }) => model.operation === LIBRARY_OPERATIONS[use])
    .filter(({ model }) => [model.id, ...model.aliases].includes(name))
    .toSorted((a, b) => (a.model.priority ?? 1) - (b.model.priority ?? 1))[0]

/** A model of an upstream as a layer; undefined if none has it. */
const layerOfModel = <A, E, R>(
  upstreams: ReadonlyArray<UpstreamSettings>,
  use: Use,
  name: string,
  layerOf: (options: GatewayEmbedder.GatewayEmbedderOptions) => Layer.Layer<A, E, R>
) => {
  const found = findModel(upstreams, use, name)
  if (found === undefined) return undefined
  const dialect: Dialect = found.upstream.dialect ?? gateway
  const { id: model } = found.model
  const { batch, prefixes } = { ...knownModel(dialect, model), ...found.model }
  return Layer.provide(
    layerOf({ model, prefixes, hasInputType: dialect.hasInputType }),
    layerLibraryGateway(found.upstream, { ...found.model, batch })
  )
}

/** The models that the settings name, and those of this machine for the rest. */
export const layerNamedModels = ({
  isLibraryUnlisted,
  library,
  localModels,
  upstreams
}: Pick<ProvidersSettings, "isLibraryUnlisted" | "localModels"> & {
  readonly library: LibraryNames
  readonly upstreams: ReadonlyArray<UpstreamSettings>
}) => {
  const named = <A, E, R>(
    use: Use,
    layerOf: (options: GatewayEmbedder.GatewayEmbedderOptions) => Layer.Layer<A, E, R>
  ) => (library[use] === undefined ? undefined : layerOfModel(upstreams, use, library[use], layerOf))
  // Later layers replace earlier ones of the same service.
  return Layer.mergeAll(
    isLibraryUnlisted ? layerUnlistedModels(unlistedModels(upstreams)) : layerMachineModels(localModels),
    named("embedding", GatewayEmbedder.layer) ?? Layer.empty,
    named("rerank", GatewayReranker.layer) ?? Layer.empty,
    named("chat", layerChatModel) ?? Layer.empty,
    layerVerifier(named("verify", GatewayVerifier.layer)),
    named("vision", ({ model }) => layerVisionModel(model)) ?? layerVision
  )
}

/** What the file says, or the variables of a gateway. `library`: the models, in place of the gateway's. */
const currentSettings = Effect.fnUntraced(function* (library?: LibraryNames) {
  const place = yield* providersPlace
  if (typeof place === "string") return yield* orInvalidFile(place)(loadProvidersSettings(place))
  const named = library ?? place.models
  const upstreams = [gatewayUpstream(place, named)]
  return { library: named, isLibraryUnlisted: false, localModels: undefined, upstreams }
})

/** Warns of embedded models in place of a gateway's. */
const warnOfEmbedded = Effect.gen(function* () {
  const { gateway } = yield* ServerConfig
  for (const [use, variable, does] of [
    ["rerank", "SLUICE_RERANK_MODEL", "reranks"],
    ["chat", "SLUICE_CHAT_MODEL", "answers"]
  ] as const) {
    if (gateway !== undefined && gateway.models[use] === undefined)
      yield* Effect.logWarning(`${variable} is not set: the embedded model ${does}`)
  }
})

/** Embedder, Reranker, Reader and Vision, as configured. */
export const LibraryModelsLayer = Layer.unwrap(
  Effect.map(Effect.tap(currentSettings(), warnOfEmbedded), layerNamedModels)
).pipe(Layer.catchTag("GatewayError", (error) => Layer.effectContext(Effect.fail(gatewayError(error)))))

/** The name of the embedded reader among configured models. */
export const EMBEDDED_READER = "embedded"

/** The reader of a chat model that is configured, or the embedded one. Fails with `StartError` if no upstream has it. */
export const layerConfiguredReader = (model: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      if (model === EMBEDDED_READER) return Embedded.layerReader
      const { upstreams } = yield* currentSettings({ chat: model })
      const layer = layerOfModel(upstreams, "chat", model, GatewayReader.layer)
      if (layer !== undefined) return layer
      const known = upstreams.flatMap(({ models }) =>
        models.flatMap(({ id, operation }) => (operation === "chat" ? [id] : []))
      )
      const message = `No chat model ${model} is configured. Write ${[...known, EMBEDDED_READER].join(", ")}`
      return yield* new StartError({ message })
    })
  )
