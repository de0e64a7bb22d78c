/** The service of `/api`, with a system access token: the user, the keys, and the lists of models. */
import { Context, type Effect, Schema, SchemaTransformation, type Stream } from "effect"
import { Expiry } from "../contract/Account.ts"
import { ApiKey, SystemAccessToken } from "../contract/Credentials.ts"
import { Extra } from "../contract/Fields.ts"
import type { GatewayError } from "../contract/GatewayError.ts"
import type { Model } from "../contract/Models.ts"
import { Quota } from "../contract/Quota.ts"

const { optionalKey } = Schema

/** A credential in an answer. It has no JSON: an answer with one cannot be encoded, one without can. */
const credential = <A>(schema: Schema.Codec<A, string>) =>
  Schema.declare(Schema.is(Schema.toType(schema)), {
    expected: "a credential",
    toCodecJson: () =>
      Schema.link<A>()(
        Schema.Never,
        SchemaTransformation.transform<A, never>({
          decode: (never) => never,
          encode: (secret) => secret as never
        })
      )
  })

/** The owner of a system access token. */
export const User = Schema.Struct({
  username: Schema.String,
  /** The balance in quota units, negative if overdrawn. `formatQuota` and `usdOf` convert it to USD. */
  quota: Quota,
  /** Most gateways do not return it. It cannot be encoded. */
  accessToken: optionalKey(credential(SystemAccessToken)),
  /** Fields of the user beyond the interface. */
  extra: optionalKey(Extra)
})
export interface User extends Schema.Schema.Type<typeof User> {}

const tokenFields = {
  name: Schema.String,
  /** Whether `status` is 1. */
  enabled: Schema.Boolean,
  /** 1 enabled, 0 disabled. Other gateways use 2 disabled, 3 expired, 4 exhausted. */
  status: Schema.Int,
  expires: Expiry,
  /** The remaining quota, in quota units. */
  remainQuota: Quota,
  /** The addresses allowed to use it; empty allows all. Absent if unknown. */
  subnet: optionalKey(Schema.String),
  /** The masked key, such as `sk-ab**********yz`. Not a credential. */
  maskedKey: optionalKey(Schema.String),
  /** Fields of the token beyond the interface. */
  extra: optionalKey(Extra)
}

/** An API key of the account. The interface calls it a token. */
export const Token = Schema.Struct({
  ...tokenFields,
  id: Schema.Int,
  /** The full key. Returned on creation, elsewhere rarely. It cannot be encoded. */
  key: optionalKey(credential(ApiKey))
})
export interface Token extends Schema.Schema.Type<typeof Token> {}

/** A new token. Most gateways return the key only now. */
export const CreatedToken = Schema.Struct({
  ...tokenFields,
  /** Absent if the gateway returned only the key and no listed token matches it. */
  id: optionalKey(Schema.Int),
  /** It cannot be encoded: take what you need of the answer. */
  key: credential(ApiKey)
})
export interface CreatedToken extends Schema.Schema.Type<typeof CreatedToken> {}

/** A key to create. */
export interface NewToken {
  readonly name: string
  /** Default: never. */
  readonly expires?: Expiry | undefined
  /** Its quota, in quota units. */
  readonly remainQuota: Quota
  /** The addresses allowed to use it. Default, or empty: all. */
  readonly subnet?: string | undefined
  /** The gateway's own fields, such as `{ unlimited_quota: true }`. */
  readonly extra?: Extra | undefined
}

/** The fields to change, and the gateway's own, such as `{ group: "vip" }`. */
export interface TokenChanges extends Partial<NewToken> {
  readonly enabled?: boolean | undefined
}

/** The response to a rotation of the system access token. */
export const RotatedAccessToken = Schema.Struct({
  /** The new token. If absent, look for it in `body`. It cannot be encoded. */
  accessToken: optionalKey(credential(SystemAccessToken)),
  /** The complete body, JSON or text. The interface does not define its form. It cannot be encoded. */
  body: Schema.Redacted(Schema.Json, { disallowJsonEncode: true })
})
export interface RotatedAccessToken extends Schema.Schema.Type<typeof RotatedAccessToken> {}

/**
 * The keys of the account.
 *
 * **Gotchas.** Some gateways refuse to enable an expired or exhausted token: change that first, or in the same update.
 */
export interface Tokens {
  /**
   * `GET /api/token/`, page by page: each token once, in the order of the gateway.
   *
   * **Details.** Requests pages of 100; a gateway may return fewer. The list ends with a shorter page, unless the gateway
   * states more, or with a page without new tokens. Invalid entries are skipped with a warning in the log; if all are
   * invalid, the call fails with `InvalidResponse`. The same holds for `search`.
   *
   * **Gotchas.** Without a stated total, a first page of fewer than 10 is taken as complete. Pages are read as long as they
   * bring new tokens; `Stream.take` limits them.
   */
  readonly list: Stream.Stream<Token, GatewayError>
  /** `GET /api/token/{id}`. `NotFound` where there is none. */
  readonly get: (id: number) => Effect.Effect<Token, GatewayError>
  /**
   * `POST /api/token/`. Its key is in the answer, redacted.
   *
   * **Details.** Missing fields are read back. If that fails but the key is known, the token has the requested values.
   *
   * **Gotchas.** Retried only if the first attempt was not executed. An `InvalidResponse` may mean that the token was
   * created without a readable key; its message says so. Do not create it again.
   */
  readonly create: (token: NewToken) => Effect.Effect<CreatedToken, GatewayError>
  /**
   * Changes a token: reads it, sends all of it back (`PUT /api/token/`) with the changes, and reads it again.
   *
   * **Details.** Some gateways clear omitted fields, or ignore a status sent with other fields. Fields that still differ
   * afterwards fail with `InvalidResponse`, which names them.
   *
   * **Gotchas.** Quota spent between the read and the write is restored if the gateway stores `remain_quota` as sent.
   */
  readonly update: (id: number, changes: TokenChanges) => Effect.Effect<Token, GatewayError>
  /** `update` of its name. */
  readonly rename: (id: number, name: string) => Effect.Effect<Token, GatewayError>
  /** `update` of its status to 1. */
  readonly enable: (id: number) => Effect.Effect<Token, GatewayError>
  /** `update` of its status to 0: calls with its key are then refused. */
  readonly disable: (id: number) => Effect.Effect<Token, GatewayError>
  /** `DELETE /api/token/{id}`, permanently. */
  readonly remove: (id: number) => Effect.Effect<void, GatewayError>
  /**
   * `GET /api/token/search`: the tokens that match a keyword.
   *
   * **Gotchas.** Matching depends on the gateway: most match a prefix of the name, some accept `%` as a wildcard. Many
   * return one page at most.
   */
  readonly search: (keyword: string) => Effect.Effect<ReadonlyArray<Token>, GatewayError>
}

/**
 * The account at the gateway.
 *
 * **Details.** `AccountClient.layer` in `@sluice/core/client` implements it over HTTP. Its credential is a
 * `SystemAccessToken`: an API key is not accepted.
 */
export class Account extends Context.Service<
  Account,
  {
    /** `GET /api/user/self`: the user and the balance. */
    readonly user: Effect.Effect<User, GatewayError>
    /**
     * `GET /api/user/token`: makes a new system access token and revokes the current one.
     *
     * **Gotchas.** Never retried, because each attempt may revoke the token. Store the new token at once and build a new
     * layer with it.
     */
    readonly rotateAccessToken: Effect.Effect<RotatedAccessToken, GatewayError>
    readonly tokens: Tokens
    /** `GET /api/models`: every model of the gateway. */
    readonly models: Effect.Effect<ReadonlyArray<Model>, GatewayError>
    /** `GET /api/user/available_models`: the models that the user may call. */
    readonly availableModels: Effect.Effect<ReadonlyArray<Model>, GatewayError>
  }
>()("@sluice/core/Account") {}
