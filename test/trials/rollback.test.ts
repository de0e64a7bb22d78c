/** An earlier version on data of this one, as docs/guides/operation.md says. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { extractCommit } from "../../scripts/previousSource.ts"
import { FORMAT } from "@sluice/rag/store"
import { LATEST } from "../../apps/demo-server/src/database/Migrations.ts"
import { sluiceHere } from "../cli/Launcher.ts"
import { addressIn, startProcess } from "../demo-server/Process.ts"
import { startServer, temporaryFolder } from "../demo-server/TestServer.ts"

const archive = join(import.meta.dirname, "../demo-server/previous-data.tar.gz")
const Credentials = Schema.fromJsonString(
  Schema.Struct({
    commit: Schema.String,
    owner: Schema.Struct({ key: Schema.String, token: Schema.String }),
    balances: Schema.Struct({ owner: Schema.Int })
  })
)
const text = execFileSync("tar", ["xzfO", archive, "./credentials.json"], { encoding: "utf8" })
const { balances, commit, owner } = Schema.decodeUnknownSync(Credentials)(text)
const isThere = spawnSync("git", ["cat-file", "-e", `${commit}^{commit}`]).status === 0
const skipped = isThere ? "" : `, skipped: the clone has no commit ${commit}`

const LONG = 120_000

// Skipped: a shallow clone does not have the earlier version. The name says it.
describe.skipIf(!isThere)(`the version of the previous data${skipped}`, () => {
  it.live(
    "refuses data that this version upgraded, and starts on a backup from before",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const [data, backup, restored] = [
          join(folder, "data"),
          join(folder, "backup"),
          join(folder, "restored")
        ]
        execFileSync("mkdir", [data])
        execFileSync("tar", ["xzf", archive, "-C", data])
        const made = yield* Effect.promise(() => sluiceHere(["backup", backup, "--data", data]))
        assert.strictEqual(made.code, 0, made.stderr)
        yield* Effect.scoped(startServer({ data }))

        const args = extractCommit(commit, join(folder, "source"))
        const start = (data: string) => startProcess({ SLUICE_DATA: data, SLUICE_SAMPLES: "false" }, { args })
        const { code, stderr } = yield* (yield* start(data)).ended
        assert.strictEqual(code, 1)
        assert.include(stderr, "newer version of Sluice")

        const result = yield* Effect.promise(() => sluiceHere(["restore", backup, "--data", restored]))
        assert.strictEqual(result.code, 0, result.stderr)
        const server = yield* start(restored)
        const url = addressIn(yield* server.printed("Open this address"))
        const get = (path: string, secret: string) =>
          Effect.promise(async () => {
            const headers = { authorization: `Bearer ${secret}` }
            return (await fetch(new URL(path, url), { headers })).text()
          })
        assert.include(yield* get("/api/user/self", owner.token), `"quota":${balances.owner}`)
        assert.include(yield* get("/documents", owner.key), "ferry.md")
      }).pipe(Effect.scoped),
    LONG
  )
})

describe("docs/guides/operation.md", () => {
  it("has the versions of the data", () => {
    const docs = readFileSync(join(import.meta.dirname, "../../docs/guides/operation.md"), "utf8")
    assert.include(docs, `accounts have version ${LATEST}, libraries format ${FORMAT}`)
  })
})
