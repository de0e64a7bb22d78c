/** The service behind `/api`, with a system access token: the user, the keys, and which models there are. */
import { Context, type Effect, type Redacted, type Schema, type Stream } from "effect"
import type { ApiKey, SystemAccessToken } from "../contract/Credentials.ts"
import type { Expiry } from "../contract/Account.ts"
import type { Model } from "../contract/Models.ts"
import type { Extra } from "../contract/Fields.ts"
import type { GatewayError } from "../contract/GatewayError.ts"
import type { Quota } from "../contract/Quota.ts"

/** Who a system access token belongs to. */
export interface User {
  readonly username: string
  /** The balance: negative where it is overdrawn. `formatQuota` and `usdOf` give it in USD. */
  readonly quota: Quota
  /** Where the gateway shows it, which most do not. */
  readonly accessToken?: SystemAccessToken
  /** What the gateway says of the user beyond the interface. */
  readonly extra?: Extra
}

/** An API key as the account sees it; the interface calls it a token. */
export interface Token {
  readonly id: number
  readonly name: string
  /** Whether `status` is 1. */
  readonly enabled: boolean
  /** As the gateway says: 1 enabled, 0 disabled; others of the family know 2 disabled, 3 expired, 4 exhausted. */
  readonly status: number
  readonly expires: Expiry
  /** What it may still spend. */
  readonly remainQuota: Quota
  /** Addresses that may use it; empty: all. Absent where the gateway does not say. */
  readonly subnet?: string
  /** Only where the gateway shows it whole: always when it is created, elsewhere rarely. */
  readonly key?: ApiKey
  /** What is shown in its place: `sk-ab**********yz`. Opens nothing. */
  readonly maskedKey?: string
  /** What the gateway says of the token beyond the interface. */
  readonly extra?: Extra
}

/** A token just created: the only time that most gateways show its key. */
export interface CreatedToken extends Omit<Token, "id"> {
  /** Absent where the gateway shows the key alone, and no token is found that it may belong to. */
  readonly id?: number
  readonly key: ApiKey
}

/** A key to make. */
export interface NewToken {
  readonly name: string
  /** Never when not given. */
  readonly expires?: Expiry
  /** What it may spend. */
  readonly remainQuota: Quota
  /** Addresses that may use it; all when empty or not given. */
  readonly subnet?: string
  /** Fields of the gateway's own, sent beside: `{ unlimited_quota: true }`. */
  readonly extra?: Extra
}

/** What is to be different; all else stays. */
export interface TokenChanges {
  readonly name?: string
  readonly enabled?: boolean
  readonly expires?: Expiry
  readonly remainQuota?: Quota
  readonly subnet?: string
  /** Fields of the gateway's own: `{ group: "vip" }`. */
  readonly extra?: Extra
}

/** What a gateway answered when it was asked for a new system access token. */
export interface RotatedAccessToken {
  /** The new one, where it was found in the answer: look into `body` where it was not. */
  readonly accessToken?: SystemAccessToken
  /** The whole answer, JSON or text: the interface does not show its form. */
  readonly body: Redacted.Redacted<Schema.Json>
}

/**
 * The keys of the account.
 *
 * **Gotchas.** Some gateways refuse to enable a token that has expired or spent all: change that first, or with it.
 */
export interface Tokens {
  /**
   * `GET /api/token/`, page by page: each token once, in the order of the gateway.
   *
   * **Details.** Pages of 100 are asked for; a gateway that gives fewer has its way. It ends on a page that is shorter
   * than the others, unless the gateway says that there are more, or that brings nothing new, as from gateways that do
   * not know page numbers. One that has not the form of a token is left out, and a warning in the log names it; a list
   * of which that is true throughout is `InvalidResponse`. `search` does the same.
   *
   * **Gotchas.** A first page of fewer than 10 is all, where the gateway does not say how many there are. One that never
   * ends to bring new tokens is followed as long as the stream is read: `Stream.take` bounds it.
   */
  readonly list: Stream.Stream<Token, GatewayError>
  /** `GET /api/token/{id}`. `NotFound` where there is none. */
  readonly get: (id: number) => Effect.Effect<Token, GatewayError>
  /**
   * `POST /api/token/`. Its key is in the answer, redacted.
   *
   * **Details.** What an answer leaves out is read back. Where that fails and the key is known, the token is given as it
   * was asked for.
   *
   * **Gotchas.** Tried again only where the first attempt surely did not happen. `InvalidResponse` says so where the
   * token was created, and its key is not shown or could not be read: then it is not to be created again.
   */
  readonly create: (token: NewToken) => Effect.Effect<CreatedToken, GatewayError>
  /**
   * Changes a token: reads it, sends all of it back (`PUT /api/token/`) with the changes, and reads it again.
   *
   * **Details.** Gateways of this family empty what is left out, or ignore a status that comes with other fields. What
   * is not as it should be after all is `InvalidResponse` and named.
   *
   * **Gotchas.** What the token spends between reading and writing is given back to it, by gateways that take
   * `remain_quota` as it comes.
   */
  readonly update: (id: number, changes: TokenChanges) => Effect.Effect<Token, GatewayError>
  /** `update` of its name. */
  readonly rename: (id: number, name: string) => Effect.Effect<Token, GatewayError>
  /** `update` of its status to 1. */
  readonly enable: (id: number) => Effect.Effect<Token, GatewayError>
  /** `update` of its status to 0: calls with its key are refused from then on. */
  readonly disable: (id: number) => Effect.Effect<Token, GatewayError>
  /** `DELETE /api/token/{id}`: for good. */
  readonly remove: (id: number) => Effect.Effect<void, GatewayError>
  /**
   * `GET /api/token/search`: the tokens that the gateway finds for a word.
   *
   * **Gotchas.** What matches is the gateway's affair (most compare the beginning of the name, some take `%` for any
   * text), and many find no more than a page.
   */
  readonly search: (keyword: string) => Effect.Effect<ReadonlyArray<Token>, GatewayError>
}

/**
 * The account at the gateway.
 *
 * **Details.** `AccountClient.layer` in `@sluice/core/client` implements it over HTTP. Its credential is a
 * `SystemAccessToken`: an API key does not open it.
 */
export class Account extends Context.Service<
  Account,
  {
    /** `GET /api/user/self`: who the token belongs to, and the balance. */
    readonly user: Effect.Effect<User, GatewayError>
    /**
     * `GET /api/user/token`: makes a new system access token, which ends the one that this service has.
     *
     * **Gotchas.** Never tried again: each attempt may have ended the token before. Keep the new one at once, and build
     * a new layer with it.
     */
    readonly rotateAccessToken: Effect.Effect<RotatedAccessToken, GatewayError>
    readonly tokens: Tokens
    /** `GET /api/models`: every model of the gateway. */
    readonly models: Effect.Effect<ReadonlyArray<Model>, GatewayError>
    /** `GET /api/user/available_models`: those that the user may call. */
    readonly availableModels: Effect.Effect<ReadonlyArray<Model>, GatewayError>
  }
>()("@sluice/core/Account") {}
