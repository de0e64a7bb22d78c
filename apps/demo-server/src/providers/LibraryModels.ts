/** The models of the library that the providers' file names: each by the upstream that it stands in. */
import { GatewayEmbedder, GatewayReader, GatewayReranker } from "@sluice/core"
import * as Embedded from "@sluice/embedded"
import { layerVision } from "@sluice/embedded/vision"
import { Effect, Layer } from "effect"
import { gatewayError, StartError } from "../config/StartError.ts"
import { layerLibraryGateway } from "./LibraryGateway.ts"
import type { UpstreamSettings } from "../routing/UpstreamProvider.ts"
import { lookingBy } from "./Vision.ts"
import { LIBRARY_OPERATIONS } from "./ProvidersFile.ts"
import { providersPath } from "./ProvidersPath.ts"
import { loadProvidersSettings, readProvidersFile } from "./ProvidersSettings.ts"

const said = (file: string) => (why: string) => new StartError({ message: `${file}: ${why}` })

/** The file, where it names models for the library. */
export const libraryFile = Effect.gen(function* () {
  const file = yield* providersPath
  if (file === undefined) return undefined
  const { library = {} } = yield* Effect.mapError(readProvidersFile(file), said(file))
  return Object.keys(library).length === 0 ? undefined : file
})

type Use = keyof typeof LIBRARY_OPERATIONS

/** Of the upstreams that have the model, the one that is asked first. */
const servedBy = (upstreams: ReadonlyArray<UpstreamSettings>, use: Use, name: string) =>
  upstreams
    .flatMap((upstream) => upstream.models.map((model) => ({ upstream, model })))
    .filter(({ model }) => model.operation === LIBRARY_OPERATIONS[use])
    .filter(({ model }) => [model.id, ...model.aliases].includes(name))
    .toSorted((a, b) => (a.model.priority ?? 1) - (b.model.priority ?? 1))[0]

/**
 * What the file names, and what it does not name from this process.
 *
 * **Gotchas.** Read at the start: a library is made with one embedding model, and another one means to rebuild it.
 */
export const ofLibraryFile = (file: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { library, upstreams } = yield* Effect.mapError(loadProvidersSettings(file), said(file))
      const by = <A, E, R>(
        use: Use,
        layerOf: (options: GatewayEmbedder.GatewayEmbedderOptions) => Layer.Layer<A, E, R>
      ) => {
        const name = library[use]
        const served = name === undefined ? undefined : servedBy(upstreams, use, name)
        if (served === undefined) return undefined
        const { id: model, prefixes } = served.model
        return Layer.provide(
          layerOf({ model, ...(prefixes && { prefixes }) }),
          layerLibraryGateway(served.upstream, served.model)
        )
      }
      // Of two that give one service, the later is it.
      return Layer.mergeAll(
        Embedded.layer,
        by("embedding", GatewayEmbedder.layer) ?? Layer.empty,
        by("rerank", GatewayReranker.layer) ?? Layer.empty,
        by("chat", GatewayReader.layer) ?? Layer.empty,
        by("vision", ({ model }) => lookingBy(model)) ?? layerVision
      )
    })
  ).pipe(Layer.catchTag("GatewayError", (error) => Layer.effectContext(Effect.fail(gatewayError(error)))))
