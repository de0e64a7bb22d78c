/** What the tests of other people's clients have in common: servers, keys that are refused, and what is thrown. */
import { TokenResponse } from "@sluice/core"
import { Effect, Redacted } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
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

/** A key that is real and may not be used from here. */
export const keyOfElsewhere = Effect.gen(function* () {
  const { json } = yield* TestServer
  const made = yield* json(TokenResponse, "/api/token/", {
    as: "token",
    json: { name: "elsewhere", expired_time: -1, remain_quota: 500_000, subnet: "203.0.113.0/24" }
  })
  return "data" in made && made.data.key !== undefined ? Redacted.value(made.data.key) : ""
})

/** A server whose gateway has too much to do: it answers 429 to everything, and says when to come again. */
export const busyServer = Effect.gen(function* () {
  const gateway = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((request, response) => {
        request.resume()
        response.writeHead(429, { "content-type": "application/json", "retry-after": "7" })
        response.end(JSON.stringify({ error: { message: "Slow down", type: "rate_limit", code: null } }))
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => void (server.close(), server.closeAllConnections()))
  )
  const { port } = gateway.address() as AddressInfo
  const { secrets, url } = yield* startServer({
    env: {
      SLUICE_GATEWAY_URL: `http://127.0.0.1:${port}`,
      SLUICE_API_KEY: "sk-upstream",
      SLUICE_EMBEDDING_MODEL: "e",
      SLUICE_RERANK_MODEL: "r",
      SLUICE_CHAT_MODEL: "c"
    }
  })
  return { url, apiKey: secrets.apiKey } satisfies Target
})
