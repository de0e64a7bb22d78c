/** Which models there are. With one owner, all of them are available to whoever is let in. */
import type { Model } from "@sluice/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ServerApi } from "../contract/ServerApi.ts"
import { Providers } from "../providers/Providers.ts"

export const ModelsLayer = HttpApiBuilder.group(
  ServerApi,
  "models",
  Effect.fn(function* (handlers) {
    const providers = yield* Providers
    const models: ReadonlyArray<Model> = providers.flatMap((provider) =>
      provider.models.map(({ id }) => ({ id, object: "model", created: 0, owned_by: provider.id }))
    )
    const account = Effect.succeed({ success: true as const, message: "", data: models })
    return handlers.handleAll({
      list: () => Effect.succeed({ object: "list", data: models }),
      all: () => account,
      available: () => account
    })
  })
)
