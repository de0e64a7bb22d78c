/** What the tests of other people's clients have in common: servers, keys that are refused, and what is thrown. */
import { TokenResponse } from "@sluice/core/contract"
import { Effect, Redacted } from "effect"
import { startServer, TestServer } from "../demo-server/TestServer.ts"

/** What a client is told: where the server is, and with which key. */
export interface Target {
  readonly url: string
  readonly apiKey: string
}

/** Calls with a client made for the server of the test. */
export const using =
  <Client>(make: (target: Target) => Client) =>
  <A>(use: (client: Client) => Promise<A>, apiKey?: string) =>
    Effect.flatMap(TestServer, ({ secrets, url }) =>
      Effect.promise(() => use(make({ url, apiKey: apiKey ?? secrets.apiKey })))
    )

/** The error of a call that has to fail. */
export const thrown = async (call: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await call
  } catch (error) {
    return error
  }
  throw new Error("The call went through")
}

const keyOf = (fields: object) =>
  Effect.gen(function* () {
    const { json } = yield* TestServer
    const made = yield* json(TokenResponse, "/api/token/", {
      as: "token",
      json: { name: "restricted", expired_time: -1, remain_quota: 500_000, ...fields }
    })
    return "data" in made && made.data.key !== undefined ? Redacted.value(made.data.key) : ""
  })

/** A key that is real and may not be used from here. */
export const keyOfElsewhere = keyOf({ subnet: "203.0.113.0/24" })

/** A key that may use one model. */
export const keyOfOneModel = keyOf({ models: ["sluice-lexical-1024"] })

/** A key that has nothing to spend. */
export const keyWithoutQuota = keyOf({ remain_quota: 0 })

/** A server that takes one request a minute. */
export const limitedServer = Effect.map(
  startServer({ env: { SLUICE_REQUESTS_PER_MINUTE: "1" } }),
  ({ secrets, url }): Target => ({ url, apiKey: secrets.apiKey })
)

/** The error of a call that is made until it is too much: a minute may end between two of them. */
export const tooMuch = async (call: () => PromiseLike<unknown>): Promise<unknown> => {
  await call()
  try {
    await call()
  } catch (error) {
    return error
  }
  return thrown(call())
}
