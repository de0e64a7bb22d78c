/** Shared by the tests of third-party clients: servers, rejected keys, and the thrown errors. */
import { TokenResponse } from "@sluice/core/contract"
import { Effect, Redacted } from "effect"
import { startServer, TestServer } from "../demo-server/TestServer.ts"

/** A client's configuration: base URL and key. */
export interface Target {
  readonly url: string
  readonly apiKey: string
}

/** Runs calls with a client of the test's server. */
export const using =
  <Client>(make: (target: Target) => Client) =>
  <A>(use: (client: Client) => Promise<A>, apiKey?: string) =>
    Effect.flatMap(TestServer, ({ secrets, url }) =>
      Effect.promise(() => use(make({ url, apiKey: apiKey ?? secrets.apiKey })))
    )

/** Returns the error of a call that must fail. */
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

/** A valid key whose subnet excludes this machine. */
export const keyOfElsewhere = keyOf({ subnet: "203.0.113.0/24" })

/** A key limited to one model. */
export const keyOfOneModel = keyOf({ models: ["sluice-lexical-1024"] })

/** A key without quota. */
export const keyWithoutQuota = keyOf({ remain_quota: 0 })

/** A server with a limit of one request per minute. */
export const limitedServer = Effect.map(
  startServer({ env: { SLUICE_REQUESTS_PER_MINUTE: "1" } }),
  ({ secrets, url }): Target => ({ url, apiKey: secrets.apiKey })
)

/** Repeats a call until the rate limit rejects it, because a minute may end between two calls. */
export const tooMuch = async (call: () => PromiseLike<unknown>): Promise<unknown> => {
  await call()
  try {
    await call()
  } catch (error) {
    return error
  }
  return thrown(call())
}
