/** `sluice conformance` as a program uses it: the report, JSON, an exit code, the rotated token. */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { Report } from "@sluice/core/conformance"
import { Effect } from "effect"
import { brokenGateways } from "../conformance/brokenGateways.ts"
import { having } from "../conformance/Checking.ts"
import { ACCESS_TOKEN, API_KEY } from "../conformance/ReferenceGateway.ts"
import { serveGateway } from "../conformance/serveGateway.ts"
import { temporaryFolder } from "../demo-server/TestServer.ts"
import { sluiceHere } from "./Launcher.ts"

describe("sluice conformance", () => {
  /** Credentials in the environment, where process lists do not show them. */
  const env = { SLUICE_API_KEY: API_KEY, SLUICE_ACCESS_TOKEN: ACCESS_TOKEN }
  const sluice = (url: string, ...args: ReadonlyArray<string>) =>
    Effect.promise(() => sluiceHere(["conformance", "--base-url", url, ...args], env))

  it.live("prints every call and rule, and exits with code 0", () =>
    Effect.gen(function* () {
      const { seen, url, world } = yield* serveGateway()
      const { code, stderr, stdout } = yield* sluice(url)
      assert.strictEqual(world.accessToken, ACCESS_TOKEN)
      const posts = new Set(seen.filter((call) => !call.startsWith("GET ")))
      assert.deepStrictEqual([...posts], ["POST /v1/embeddings"])
      assert.deepStrictEqual({ code, stderr }, { code: 0, stderr: "" })
      assert.match(
        stdout,
        /^POST \/v1\/embeddings\n  ✓ a valid request .*\[interface: Endpoints › Embeddings\]$/m
      )
      assert.include(
        stdout,
        "POST /v1/rerank\n  – skipped: it may cost more than an embedding: allow it with --paid"
      )
      assert.match(stdout, /^interface: \d+ passed, 0 failed, \d+ skipped$/m)
      assert.notInclude(stdout, "canary")
    }).pipe(Effect.scoped)
  )

  it.live("exits with code 1 when no rule could be run", () =>
    Effect.gen(function* () {
      const { port } = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const server = createServer((_, response) => void response.writeHead(404).end("{}"))
          await once(server.listen(0, "127.0.0.1"), "listening")
          return { server, port: (server.address() as AddressInfo).port }
        }),
        ({ server }) => Effect.sync(() => server.close())
      )
      const { code, stdout } = yield* Effect.promise(() =>
        sluiceHere(["conformance", "--base-url", `http://127.0.0.1:${port}`], { SLUICE_API_KEY: API_KEY })
      )
      assert.strictEqual(code, 1)
      assert.match(stdout, /^interface: 0 passed, 0 failed/m)
      assert.match(stdout, /could not be checked: .*Check the base URL, or set a model/)
    }).pipe(Effect.scoped)
  )

  it.live("prints JSON with --json, and exits with code 1 when an interface rule fails", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const quotas = brokenGateways.find(({ breaks }) => breaks === "GET /api/user/self form")
      const { url, world } = yield* serveGateway(quotas?.gateway)
      const file = join(folder, "token")
      const groups = ["--image-group", "I1", "--video-group", "V-A"]
      const { code, stderr, stdout } = yield* sluice(
        url,
        "--json",
        ...groups,
        "--rotate",
        "--save-token",
        file
      )
      assert.strictEqual(code, 1)
      const report: Report = JSON.parse(stdout)
      assert.deepStrictEqual(having(report, "fails", "interface"), ["GET /api/user/self form"])
      assert.strictEqual(yield* Effect.promise(() => readFile(file, "utf8")), world.accessToken)
      assert.strictEqual((yield* Effect.promise(() => stat(file))).mode & 0o777, 0o600)
      assert.notInclude(stdout + stderr, world.accessToken)
    }).pipe(Effect.scoped)
  )
})
