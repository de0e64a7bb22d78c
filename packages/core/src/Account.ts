/** The service behind `/api`, with a system access token. Which models there are today; users and keys join it. */
import { Context, type Effect } from "effect"
import type { Model } from "./endpoints/Models.ts"
import type { GatewayError } from "./GatewayError.ts"

/**
 * The account at the gateway.
 *
 * **Details.** `AccountClient.layer` in `@sluice/core/client` implements it over HTTP. Its credential is a
 * `SystemAccessToken`: an API key does not open it.
 */
export class Account extends Context.Service<
  Account,
  {
    /** `GET /api/models`: every model of the gateway. */
    readonly models: Effect.Effect<ReadonlyArray<Model>, GatewayError>
    /** `GET /api/user/available_models`: those that the user may call. */
    readonly availableModels: Effect.Effect<ReadonlyArray<Model>, GatewayError>
  }
>()("@sluice/core/Account") {}
