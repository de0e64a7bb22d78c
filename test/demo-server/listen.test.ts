/** Closing idle sockets at shutdown. */
import { assert, it } from "@effect/vitest"
import { Effect, Scope } from "effect"
import { once } from "node:events"
import { connect } from "node:net"
import { startServer } from "./TestServer.ts"

// The grace period never ends on the test clock: waiting for it would hang.
it.effect("an idle socket that a browser opened in advance does not delay the shutdown", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const { call, url } = yield* startServer().pipe(Scope.provide(scope))
    const ahead = connect(Number(new URL(url).port), "127.0.0.1")
    const closed = once(ahead, "close")
    yield* Effect.promise(() => once(ahead, "connect"))
    // The response proves that the socket was accepted.
    assert.strictEqual((yield* call("/status")).status, 200)
    yield* Scope.close(scope, yield* Effect.exit(Effect.void))
    yield* Effect.promise(() => closed)
  })
)
