/** A damaged data folder: the start, a running server, and `sluice doctor`. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Embedder } from "@sluice/core"
import * as Embedded from "@sluice/embedded"
import { Console, Effect, Layer, Schema } from "effect"
import { Command } from "effect/cli"
import { SqlClient } from "effect/sql"
import { existsSync } from "node:fs"
import { readdir, readFile, truncate, writeFile } from "node:fs/promises"
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { sluice } from "../../apps/demo-server/src/cli/Sluice.ts"
import * as NodeSqlite from "../../apps/demo-server/src/sql/NodeSqlite.ts"
import { isDamage } from "../../apps/demo-server/src/sql/NodeSqlite.ts"
import { catchSqlError } from "../../apps/demo-server/src/sql/StoreFailure.ts"
import {
  CollectionInfo,
  DocumentInfoSchema,
  IngestStreamEvent,
  ServerStatus
} from "../../apps/demo-server/src/contract/index.ts"
import { errorOf, failedStart, filesOf, startServer, temporaryFolder, type TestServer } from "./TestServer.ts"

const PAGE = 4096

const Collections = Schema.Struct({ collections: Schema.Array(CollectionInfo) })
const List = Schema.Struct({ documents: Schema.Array(DocumentInfoSchema) })

/** A data folder with accounts whose server has stopped. */
const stopped = Effect.gen(function* () {
  const data = yield* temporaryFolder
  yield* Effect.scoped(startServer({ data }))
  return { data, file: join(data, "accounts.db") }
})

/** Overwrites the page where a table begins. */
const damage = (file: string, table: string) =>
  Effect.promise(async () => {
    const database = new DatabaseSync(file)
    const row = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(table)
    database.close()
    const page = Number(row?.["rootpage"])
    const bytes = await readFile(file)
    await writeFile(file, bytes.fill(0x5a, (page - 1) * PAGE, page * PAGE))
  })

const Packages = Schema.fromJsonString(
  Schema.Struct({ packages: Schema.Record(Schema.String, Schema.Boolean) })
)

const doctor = (data: string, ...flags: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const printed: Array<string> = []
    const before = process.exitCode
    const exit = yield* Command.runWith(sluice, { version: "0" })(["doctor", "--data", data, ...flags]).pipe(
      Effect.provideService(Console.Console, {
        ...globalThis.console,
        log: (...parts: ReadonlyArray<unknown>) => void printed.push(parts.join(" "))
      }),
      Effect.provide(NodeServices.layer),
      Effect.exit
    )
    const code = process.exitCode
    process.exitCode = before
    return { code, text: printed.join("\n"), failed: String(exit) }
  })

describe("the accounts' file", () => {
  it.live("stops the start if it is damaged, which says to restore it", () =>
    Effect.gen(function* () {
      for (const table of ["charges", "users", "audit"]) {
        const { data, file } = yield* stopped
        yield* damage(file, table)
        const { code, printed } = yield* failedStart(data)
        assert.strictEqual(code, 1, table)
        assert.match(printed, /Restore accounts\.db from a copy/, table)
        assert.match((yield* doctor(data)).failed, /Restore accounts\.db/, table)
      }
    }).pipe(Effect.scoped)
  )

  it.live("is checked by doctor, which also says which optional packages are installed", () =>
    Effect.gen(function* () {
      const { data } = yield* stopped
      const { text } = yield* doctor(data, "--json")
      const { packages } = yield* Schema.decodeUnknownEffect(Packages)(text)
      // A development dependency, and one that is not.
      assert.deepStrictEqual(packages, { "@duckdb/node-api": true, "@huggingface/transformers": false })
      const lines = (yield* doctor(data)).text
      assert.include(lines, "For neural models of this machine: npm install @huggingface/transformers")
      assert.notInclude(lines, "duckdb")
    }).pipe(Effect.scoped)
  )

  it.live("is not made by doctor in a folder that does not exist", () =>
    Effect.gen(function* () {
      const data = join(yield* temporaryFolder, "misspelt")
      assert.match((yield* doctor(data)).failed, /There is no data folder/)
      assert.isFalse(existsSync(data))
    }).pipe(Effect.scoped)
  )

  it.live("stops the start if only the check finds the damage", () =>
    Effect.gen(function* () {
      const { data, file } = yield* stopped
      const bytes = yield* Effect.promise(() => readFile(file))
      // The number of free pages, which no statement of the start needs.
      bytes.writeUInt32BE(7, 36)
      yield* Effect.promise(() => writeFile(file, bytes))
      const { code, printed } = yield* failedStart(data)
      assert.strictEqual(code, 1)
      assert.match(printed, /are damaged \([^]*\)\. Restore accounts\.db from a copy/)
    }).pipe(Effect.scoped)
  )

  it.live("makes a running server not ready once it is found damaged, which says to restore it", () =>
    Effect.gen(function* () {
      const { data, file } = yield* stopped
      const database = new DatabaseSync(file)
      // More than the pages that SQLite keeps in memory, so that it reads the file again.
      database.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        INSERT INTO audit (at, actor, credential, address, action, subject, details)
        SELECT i, 'owner', 'session', '', 'user.update', 'owner', json_object('of', hex(zeroblob(500))) FROM n`)
      database.close()
      const server = yield* startServer({ data })
      const readyz = Effect.flatMap(server.call("/readyz", { as: "none" }), (response) =>
        Effect.promise(async () => ({ status: response.status, text: await response.text() }))
      )
      assert.strictEqual((yield* readyz).status, 200)
      const bytes = yield* Effect.promise(() => readFile(file))
      yield* Effect.promise(() => writeFile(file, bytes.fill(0x5a, PAGE)))
      yield* server.call("/api/audit?p=400", { as: "session" })
      const { status, text } = yield* readyz
      assert.strictEqual(status, 503)
      assert.include(text, "restore accounts.db from a copy")
      assert.match(server.printed.join("\n"), /Stop the server and restore accounts\.db from a copy/)
      const refused = yield* server.call("/api/user/self", { as: "session" })
      assert.strictEqual(refused.status, 503)
      assert.match((yield* doctor(data)).failed, /in use by another server/)
    }).pipe(Effect.scoped)
  )

  it.live("is not used any more once it is found damaged", () =>
    Effect.gen(function* () {
      const { file } = yield* stopped
      yield* damage(file, "audit")
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`SELECT id FROM users`
        for (const query of [sql`SELECT * FROM audit`, sql`SELECT 1`, sql`UPDATE users SET quota = 0`]) {
          assert.isTrue(isDamage(yield* Effect.flip(query)))
        }
        const failure = yield* Effect.flip(catchSqlError(Effect.asVoid(sql`SELECT 1`)))
        assert.strictEqual(failure.status, 503)
      }).pipe(Effect.provide(NodeSqlite.layer(file)))
    }).pipe(Effect.scoped)
  )

  it.live("is checked by the doctor and at the start: every balance adds up", () =>
    Effect.gen(function* () {
      const { data, file } = yield* stopped
      const well = yield* doctor(data)
      assert.include(well.text, "every balance adds up")
      const database = new DatabaseSync(file)
      database.exec("UPDATE users SET quota = quota - 7")
      database.close()
      const ill = yield* doctor(data)
      assert.include(ill.text, "user owner differs by 7 units")
      assert.strictEqual(ill.code, 1)
      const server = yield* startServer({ data })
      assert.include(server.printed.join("\n"), "user owner differs by 7 units")
    }).pipe(Effect.scoped)
  )
})

/** Overwrites the end of the first file of a library whose path matches and which has a text. */
const damageFile = (library: string, path: RegExp, text: string) =>
  Effect.promise(async () => {
    for (const name of await readdir(library, { recursive: true })) {
      if (!path.test(name)) continue
      const bytes = await readFile(join(library, name))
      if (!bytes.includes(text)) continue
      return writeFile(join(library, name), bytes.fill(0x5a, bytes.length - 400))
    }
    assert.fail(`no file has ${text}`)
  })

/** The table of which a data file has a text. */
const tableWith = (library: string, text: string) =>
  Effect.promise(async () => {
    for (const name of await readdir(library, { recursive: true }))
      if (/^c_.*data.*\.lance$/.test(name) && (await readFile(join(library, name))).includes(text))
        return name.slice(0, name.indexOf(".lance"))
    return assert.fail(`no table has ${text}`)
  })

/** Cuts off the newest version of a table. */
const damageNewest = (library: string, table: string) =>
  Effect.promise(async () => {
    const versions = join(library, `${table}.lance`, "_versions")
    // Their names count down.
    const [newest = ""] = (await readdir(versions)).filter((name) => name.endsWith(".manifest")).toSorted()
    await truncate(join(versions, newest), 10)
  })

/** Changes a letter of a stored original. */
const flip = (library: string, text: string) =>
  Effect.promise(async () => {
    for (const name of await readdir(library, { recursive: true })) {
      if (!/^files.*data.*\.lance$/.test(name)) continue
      const bytes = await readFile(join(library, name))
      const at = bytes.indexOf(text)
      if (at >= 0) return writeFile(join(library, name), bytes.fill("X", at, at + 1))
    }
    assert.fail(`no original has ${text}`)
  })

/** The same model under another name, which the library treats as another model. */
const renamed = Layer.effect(
  Embedder,
  Effect.map(Embedder, (embedder) =>
    Embedder.of({ ...embedder, model: { ...embedder.model, id: "another-embedder" } })
  )
).pipe(Layer.provideMerge(Embedded.layer))

const Ready = Schema.Struct({ checks: Schema.Struct({ library: Schema.String }) })
const readiness = ({ call }: TestServer["Service"]) =>
  Effect.flatMap(call("/readyz", { as: "none" }), (response) =>
    Effect.promise(async () => {
      const { checks } = Schema.decodeUnknownSync(Ready)(await response.json())
      return { status: response.status, library: checks.library }
    })
  )
const DAMAGED = "the owner's documents are damaged: restore them from a copy, or run `sluice doctor`"

describe("a damaged library", () => {
  /** A data folder with a document in each of two collections, and another in the first. */
  const filled = Effect.gen(function* () {
    const data = yield* temporaryFolder
    yield* Effect.scoped(
      Effect.gen(function* () {
        const { call } = yield* startServer({ data })
        for (const [collection, name] of [
          ["default", "ferry"],
          ["default", "lock"],
          ["other", "boats"]
        ]) {
          const body = filesOf({ [`${name}.md`]: `# About\n\nThe ${name} is green.\n` })
          yield* call(`/documents?collection=${collection}`, { body })
        }
      })
    )
    return { data, library: join(data, "library") }
  })
  const as = "session"
  const paths = (server: TestServer["Service"], collection: string) =>
    Effect.map(server.json(List, `/documents?collection=${collection}`, { as }), ({ documents }) =>
      documents.map(({ path }) => path)
    )

  it.live("does not prevent the start if the name of its first collection is damaged", () =>
    Effect.gen(function* () {
      const { data, library } = yield* filled
      yield* damageFile(library, /^collections.*data.*\.lance$/, "default")
      const server = yield* startServer({ data })
      assert.match(server.printed.join("\n"), /looking up collection "default"/)
      assert.strictEqual((yield* server.call("/documents", { as })).status, 500)
      assert.deepStrictEqual(yield* paths(server, "other"), ["boats.md"])
      assert.deepStrictEqual(yield* readiness(server), { status: 200, library: DAMAGED })
    }).pipe(Effect.scoped)
  )

  it.live("says so if only originals are damaged, and can be read", () =>
    Effect.gen(function* () {
      const { data, library } = yield* filled
      yield* damageNewest(library, "files")
      const server = yield* startServer({ data })
      const body = filesOf({ "new.md": "# New\n\nThe weir is new.\n" })
      for (const collection of ["default", "other"]) {
        const refused = yield* server.call(`/documents?collection=${collection}`, { as, body })
        assert.strictEqual(refused.status, 500)
        assert.strictEqual(refused.headers.get("x-should-retry"), "false")
        const { code, message } = yield* errorOf(refused)
        assert.strictEqual(code, "damaged")
        assert.match(message, /table files.*Restore the folder from a copy.*sluice doctor/)
      }
      const log = server.printed.join("\n")
      assert.match(log, /table files.*Restore the folder from a copy/)
      // The collections' own tables are whole.
      assert.notInclude(log, "was repaired")
      assert.deepStrictEqual(yield* paths(server, "default"), ["ferry.md", "lock.md"])
      assert.deepStrictEqual(yield* readiness(server), { status: 200, library: "ok" })
    }).pipe(Effect.scoped)
  )

  it.live("costs one collection, which can be listed and removed", () =>
    Effect.gen(function* () {
      const { data, library } = yield* filled
      yield* damageNewest(library, yield* tableWith(library, "The boats is green"))
      const server = yield* startServer({ data })
      const names = Effect.map(server.json(Collections, "/collections", { as }), ({ collections }) =>
        collections.map(({ name }) => name)
      )
      assert.strictEqual((yield* server.call("/documents?collection=other", { as })).status, 500)
      assert.deepStrictEqual(yield* names, ["default", "other"])
      assert.strictEqual((yield* server.call("/collections/other", { as, method: "DELETE" })).status, 204)
      assert.deepStrictEqual(yield* names, ["default"])
      assert.deepStrictEqual(yield* readiness(server), { status: 200, library: "ok" })
    }).pipe(Effect.scoped)
  )

  it.live("does not make the server not ready, and its state says what to do", () =>
    Effect.gen(function* () {
      const { data, library } = yield* filled
      yield* damageNewest(library, yield* tableWith(library, "The ferry is green"))
      const server = yield* startServer({ data })
      assert.deepStrictEqual(yield* readiness(server), { status: 200, library: DAMAGED })
      const { message, state } = yield* server.json(ServerStatus, "/status", { as })
      assert.strictEqual(state, "damaged")
      assert.match(message ?? "", /opening collection "default".*Restore the folder/)
      assert.isUndefined((yield* server.json(ServerStatus, "/status", { as: "none" })).message)
    }).pipe(Effect.scoped)
  )

  it.live("does not stop the rebuild of other collections", () =>
    Effect.gen(function* () {
      const { data, library } = yield* filled
      yield* damageNewest(library, yield* tableWith(library, "The ferry is green"))
      const server = yield* startServer({ data, models: renamed })
      assert.strictEqual((yield* server.call("/documents?collection=other", { as })).status, 409)
      const events = yield* server.events(IngestStreamEvent, "/rebuild", { as, method: "POST" })
      assert.match(JSON.stringify(events.at(-1)), /"error".*collection \\"default.*"damaged"/)
      assert.deepStrictEqual(yield* paths(server, "other"), ["boats.md"])
    }).pipe(Effect.scoped)
  )

  it.live("stops a rebuild for another model only until the damaged document is removed", () =>
    Effect.gen(function* () {
      const { data, library } = yield* filled
      yield* flip(library, "The lock is green")
      const { call, events, json } = yield* startServer({ data, models: renamed })
      const rebuild = events(IngestStreamEvent, "/rebuild", { as, method: "POST" })
      const [stopped] = (yield* rebuild).slice(-1)
      assert.match(JSON.stringify(stopped), /stopped at lock\.md.*remove the document and ingest it again/)
      assert.strictEqual((yield* call("/documents/absent.md", { as, method: "DELETE" })).status, 409)
      assert.strictEqual((yield* call("/documents/lock.md", { as, method: "DELETE" })).status, 204)
      assert.strictEqual((yield* rebuild).at(-1)?.type, "done")
      const { documents } = yield* json(List, "/documents", { as })
      assert.deepStrictEqual(
        documents.map(({ path }) => path),
        ["ferry.md"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("is reported by the doctor, whose repair costs the damaged document", () =>
    Effect.gen(function* () {
      const { data, library } = yield* filled
      yield* damageFile(library, /^c_.*data.*\.lance$/, "The lock is green")
      const found = yield* doctor(data)
      assert.match(found.text, /library of owner: collection "default": 2 rows cannot be read/)
      assert.include(found.text, "Run it with --repair")
      assert.strictEqual(found.code, 1)
      yield* doctor(data, "--repair")
      assert.include((yield* doctor(data)).text, "accounts and libraries are whole")
      const server = yield* startServer({ data })
      assert.deepStrictEqual(yield* paths(server, "default"), ["ferry.md"])
      assert.deepStrictEqual(yield* paths(server, "other"), ["boats.md"])
    }).pipe(Effect.scoped)
  )
})
