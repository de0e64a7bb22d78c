/** Fetching images by URL: public addresses only, resolved once, limited size and time. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { fetchImageWithin } from "../../apps/demo-server/src/media/FetchImage.ts"
import { isPublicAddress } from "../../apps/demo-server/src/network/IpAddress.ts"
import { type AddressPolicy, publicAddressPolicy } from "../../apps/demo-server/src/network/PublicFile.ts"

const bytes = Buffer.from("\x89PNG\r\n\x1a\n and the rest of it", "latin1")

/** A server on a loopback port that records hosts and paths of requests. */
const serve = Effect.fnUntraced(function* (listener: RequestListener) {
  const asked: Array<string> = []
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host?.replace(/:\d+$/, "")}${request.url}`)
    listener(request, response)
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => void (server.close(), server.closeAllConnections()))
  )
  return { asked, port: (server.address() as AddressInfo).port }
})

/** Resolves every name to loopback, and allows only the given port. */
const reaching = (port: number): AddressPolicy & { readonly resolved: Array<string> } => {
  const resolved: Array<string> = []
  return {
    resolved,
    resolve: (host) => {
      resolved.push(host)
      return Promise.resolve([{ address: "127.0.0.1", family: 4 }])
    },
    mayReach: (address, to) => address === "127.0.0.1" && to === port
  }
}

const failing = (policy: AddressPolicy, url: string) => Effect.flip(fetchImageWithin(policy)(url))

describe("an image behind a URL", () => {
  it.live("is fetched from the checked address, with the name resolved once", () =>
    Effect.gen(function* () {
      const { asked, port } = yield* serve((_, response) => response.end(bytes))
      const policy = reaching(port)
      const image = yield* fetchImageWithin(policy)(`http://pictures.example:${port}/a.png?b=c`)
      assert.deepStrictEqual(Buffer.from(image), bytes)
      assert.deepStrictEqual(policy.resolved, ["pictures.example"])
      assert.deepStrictEqual(asked, ["pictures.example/a.png?b=c"])
    }).pipe(Effect.scoped)
  )

  it.live("follows redirects, also relative ones, and checks each", () =>
    Effect.gen(function* () {
      const { asked, port } = yield* serve(({ url }, response) => {
        if (url === "/end") return void response.end(bytes)
        response
          .writeHead(302, { location: url === "/start" ? "/middle" : `http://other.example:${port}/end` })
          .end()
      })
      const policy = reaching(port)
      yield* fetchImageWithin(policy)(`http://pictures.example:${port}/start`)
      assert.deepStrictEqual(policy.resolved, ["pictures.example", "pictures.example", "other.example"])
      assert.deepStrictEqual(asked, [
        "pictures.example/start",
        "pictures.example/middle",
        "other.example/end"
      ])
    }).pipe(Effect.scoped)
  )

  it.live("is not fetched if a redirect leads to a forbidden address", () =>
    Effect.gen(function* () {
      const inner = yield* serve((_, response) => response.end("secret"))
      const outer = yield* serve((_, response) =>
        response.writeHead(307, { location: `http://127.0.0.1:${inner.port}/` }).end()
      )
      const error = yield* failing(reaching(outer.port), `http://pictures.example:${outer.port}/`)
      assert.match(error.message, /not publicly reachable/)
      assert.deepStrictEqual([outer.asked.length, inner.asked.length], [1, 0])
    }).pipe(Effect.scoped)
  )

  it.live("is not fetched if one of several addresses is forbidden", () =>
    Effect.gen(function* () {
      const { asked, port } = yield* serve((_, response) => response.end(bytes))
      const policy = reaching(port)
      const two = {
        ...policy,
        resolve: async () => [...(await policy.resolve("")), { address: "10.0.0.1", family: 4 }]
      }
      const error = yield* failing(two, `http://pictures.example:${port}/`)
      assert.match(error.message, /not publicly reachable/)
      assert.deepStrictEqual(asked, [])
    }).pipe(Effect.scoped)
  )

  const faults: ReadonlyArray<readonly [string, RequestListener, RegExp]> = [
    [
      "redirects for ever",
      ({ url }, response) => void response.writeHead(301, { location: `${url}x` }).end(),
      /redirects more than 3 times/
    ],
    ["is not there", (_, response) => void response.writeHead(404).end(), /returned 404/],
    [
      "has more than 20 MB, whatever its headers say",
      (_, response) => {
        response.on("error", () => {})
        for (let megabyte = 0; megabyte <= 20; megabyte++) response.write(Buffer.alloc(1024 * 1024))
        response.end()
      },
      /more than 20 MB/
    ],
    [
      "breaks off",
      (_, response) => {
        response.writeHead(200, { "content-length": "1000" })
        response.write("half", () => response.destroy())
      },
      /connection was closed/
    ]
  ]
  for (const [name, listener, message] of faults) {
    it.live(`that ${name} is rejected`, () =>
      Effect.gen(function* () {
        const { port } = yield* serve(listener)
        const error = yield* failing(reaching(port), `http://pictures.example:${port}/`)
        assert.match(error.message, message)
        assert.strictEqual(error.code, "invalid_image_url")
      }).pipe(Effect.scoped)
    )
  }

  it.effect("times out after 10 seconds", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const { port } = yield* serve(() => void Effect.runSync(Deferred.succeed(arrived, undefined)))
      const fetching = yield* Effect.forkChild(failing(reaching(port), `http://pictures.example:${port}/`))
      yield* Deferred.await(arrived)
      yield* TestClock.adjust("10 seconds")
      assert.match((yield* Fiber.join(fetching)).message, /within 10 seconds/)
    }).pipe(Effect.scoped)
  )

  for (const host of [
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "2130706433",
    "0",
    "localhost",
    "10.1.2.3",
    "100.64.0.1",
    "172.31.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "224.0.0.1",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:8.8.8.8]",
    "[64:ff9b::7f00:1]",
    "[fd00::1]",
    "[fe80::1]",
    "[2002:7f00:1::]",
    "8.8.8.8:22"
  ]) {
    it.live(`of http://${host}/ is never fetched`, () =>
      Effect.gen(function* () {
        const error = yield* failing(publicAddressPolicy, `http://${host}/a.png`)
        assert.match(error.message, /not publicly reachable/)
      })
    )
  }

  for (const [url, message] of [
    ["file:///etc/passwd", /neither http nor https/],
    ["gopher://example.com/", /neither http nor https/],
    ["http://user:word@example.com/a.png", /username or password/],
    ["http://", /not a valid/],
    [`http://example.com/${"a".repeat(2_048)}`, /more than 2048 characters/]
  ] as const) {
    it.live(`${url.slice(0, 40)} is rejected`, () =>
      Effect.gen(function* () {
        assert.match((yield* failing(publicAddressPolicy, url)).message, message)
      })
    )
  }

  it("is allowed from a public address", () => {
    for (const address of ["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700::1111"]) {
      assert.isTrue(isPublicAddress(address), address)
    }
    assert.isFalse(isPublicAddress("example.com"))
  })
})
