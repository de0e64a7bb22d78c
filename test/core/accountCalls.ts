/** Calls of the account, and the gateway that they are made to. */
import { Account, quota, RETRY_NEVER, type RetryPolicy, systemAccessToken } from "@sluice/core"
import { RETRY, AccountClient } from "@sluice/core/client"
import type { Expiry } from "@sluice/core/contract"
import { DateTime, Effect, Stream } from "effect"
import { type Behaviour, LoopbackGateway } from "./LoopbackGateway.ts"

/** Runs against a gateway of that behaviour, and gives the requests that it saw as well. */
export const at = <A, E>(
  behaviour: Behaviour,
  effect: Effect.Effect<A, E, Account>,
  retry: RetryPolicy = RETRY_NEVER
) =>
  Effect.gen(function* () {
    const { behave, seen, url: baseUrl } = yield* LoopbackGateway
    behave(behaviour)
    const accessToken = systemAccessToken("sat-1")
    const value = yield* Effect.provide(effect, AccountClient.layer({ baseUrl, accessToken, retry }))
    return { value, seen: seen.map(({ method, path }) => `${method} ${path}`) }
  }).pipe(Effect.provide(LoopbackGateway.layer))

/** Tries again without a wait. */
export const AT_ONCE: RetryPolicy = { ...RETRY, base: "0 millis" }

export const tokens = <A, E>(use: (tokens: Account["Service"]["tokens"]) => Effect.Effect<A, E>) =>
  Account.use(({ tokens }) => use(tokens))
export const listed = tokens(({ list }) => Stream.runCollect(list))
export const someday: Expiry = { _tag: "At", at: DateTime.makeUnsafe("2030-01-02T03:04:05Z") }
export const extra = { unlimited_quota: true, models: "m-1" }
export const ada = { name: "ada's", remainQuota: quota(500), expires: someday, subnet: "10.0.0.0/8", extra }
