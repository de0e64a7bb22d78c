/** All providers of this server, and which of them serves a model. */
import { GatewayError, InvalidRequest, NotFound } from "@sluice/core"
import { layerTransport } from "@sluice/core/client"
import { layerVision } from "@sluice/embedded/vision"
import { Context, Effect, Layer } from "effect"
import { ServerConfig } from "../Config.ts"
import { FetchImage, fetchImageWithin, publicReach } from "../media/FetchImage.ts"
import { embedded } from "./embedded/embedded.ts"
import type { Operation, Operations, Provider } from "./Provider.ts"
import { gatewayError } from "../StartError.ts"
import { upstream } from "./upstream.ts"

/** The providers, first come first served. */
export class Providers extends Context.Service<Providers, ReadonlyArray<Provider>>()(
  "@sluice/demo-server/Providers"
) {
  /** The gateway when one is configured, else the models of this process. */
  static readonly layer = Layer.unwrap(
    Effect.map(ServerConfig, ({ gateway }) =>
      gateway === undefined
        ? Layer.effect(
            Providers,
            Effect.map(embedded, (provider) => [provider])
          ).pipe(Layer.provide([layerVision, Layer.succeed(FetchImage, fetchImageWithin(publicReach))]))
        : Layer.effect(
            Providers,
            Effect.map(upstream(gateway), (provider) => [provider])
          ).pipe(
            Layer.provide(layerTransport()),
            Layer.catchTag("GatewayError", (error) => Layer.effectContext(Effect.fail(gatewayError(error))))
          )
    )
  )
}

/** The operation that serves a model; the error says which models do, when the caller's does not. */
export const route = <Request, Response>(
  providers: ReadonlyArray<Provider>,
  operation: keyof Operations,
  pick: (operations: Operations) => Operation<Request, Response> | undefined,
  model: string
): Effect.Effect<Operation<Request, Response>, GatewayError> => {
  for (const { anyModelOf, operations, models } of providers) {
    const operate = pick(operations)
    if (
      operate !== undefined &&
      (anyModelOf?.includes(operation) === true ||
        models.some((known) => known.id === model && known.operation === operation))
    ) {
      return Effect.succeed(operate)
    }
  }
  const others = providers.flatMap(({ models }) => models)
  const fitting = others.filter((known) => known.operation === operation).map(({ id }) => id)
  const instead = fitting.length === 0 ? "none is served here" : `use ${fitting.join(" or ")}`
  const elsewhere = others.find((known) => known.id === model)
  return Effect.fail(
    new GatewayError({
      operation,
      model,
      reason:
        elsewhere === undefined
          ? new NotFound({ message: `There is no model \`${model}\`: ${instead}`, code: "model_not_found" })
          : new InvalidRequest({
              message: `The model \`${model}\` does ${elsewhere.operation}, not ${operation}: ${instead}`,
              param: "model"
            })
    })
  )
}
