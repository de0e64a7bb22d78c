/** Whether the money adds up after the load: granted = balance + open reserves + settled costs. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Effect, Layer } from "effect"
import { ServerConfig } from "../../apps/demo-server/src/config/ServerConfig.ts"
import { DatabaseLayer } from "../../apps/demo-server/src/database/Database.ts"
import { outOfBalance, sums } from "../../test/demo-server/Equation.ts"

/** The number of users whose ledger does not add up, once the server has ended. */
export const faultyLedgers = (env: Record<string, string>): Promise<number> =>
  Effect.gen(function* () {
    const paid = (yield* sums).reduce((paid, { settled }) => paid + settled, 0)
    if (paid === 0) return yield* Effect.die(new Error("nothing was charged: keys and quotas were off"))
    return (yield* outOfBalance).length
  }).pipe(
    Effect.provide(
      DatabaseLayer.pipe(
        Layer.provide(ServerConfig.layer),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(env))),
        Layer.provide(NodeServices.layer)
      )
    ),
    Effect.runPromise
  )
