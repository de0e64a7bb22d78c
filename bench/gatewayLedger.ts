/** Whether the money adds up after all that load: what was given is the balance, what is reserved, and what was paid. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Effect, Layer } from "effect"
import { DatabaseLayer } from "../apps/demo-server/src/database/Database.ts"
import { ServerConfig } from "../apps/demo-server/src/config/ServerConfig.ts"
import { outOfBalance, sums } from "../test/demo-server/Equation.ts"

/** How many users there are for whom it does not; the server has ended. */
export const faultyLedgers = (data: string): Promise<number> =>
  Effect.gen(function* () {
    const paid = (yield* sums).reduce((paid, { settled }) => paid + settled, 0)
    if (paid === 0)
      return yield* Effect.die(new Error("nothing was paid for: keys and quotas were not in the way"))
    return (yield* outOfBalance).length
  }).pipe(
    Effect.provide(
      DatabaseLayer.pipe(
        Layer.provide(ServerConfig.layer),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ SLUICE_DATA: data }))),
        Layer.provide(NodeServices.layer)
      )
    ),
    Effect.runPromise
  )
