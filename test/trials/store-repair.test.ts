import { assert, describe, it } from "@effect/vitest"
import * as lancedb from "@lancedb/lancedb"
import { type DocumentInfo, Library, RagError } from "@sluice/rag"
import { LanceIndex } from "@sluice/rag/store"
import { Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { attempt, connect, type Table } from "../../packages/rag/src/store/lance/Lance.ts"
import { repairing } from "../../packages/rag/src/store/lance/LanceRepair.ts"
import { countingEmbedder, embedText } from "../rag/Models.ts"
import { documentOf, MANIFEST, storeIn } from "../rag/StoredDocuments.ts"
import { testFolder } from "../rag/TestFolder.ts"

const PATHS = ["heron.md", "otter.md", "pike.md"]
const documentAt = (path: string) => documentOf(path, [`the ${path} lives`, `${path} in the pond`])

/** A collection of documents with a commit, and so a file, for each. */
const fill = (folder: string, name: string) =>
  Effect.gen(function* () {
    const collection = yield* Effect.flatMap(storeIn(folder), (index) => index.open(name, MANIFEST))
    for (const path of PATHS) yield* collection.commit([documentAt(path)])
  }).pipe(Effect.scoped)

/** Changes the files whose names and bytes match. */
const harm = (folder: string, path: RegExp, text: string, change: (bytes: Buffer) => void) =>
  Effect.promise(async () => {
    const names = (await readdir(folder, { recursive: true })).filter((name) => path.test(name)).toSorted()
    for (const name of names) {
      const bytes = await readFile(join(folder, name))
      if (!bytes.includes(text)) continue
      change(bytes)
      return writeFile(join(folder, name), bytes)
    }
    assert.fail(`no file has ${text}`)
  })

const overwriteEnd = (bytes: Buffer) => void bytes.fill(0x5a, bytes.length - 400)
const DATA = /^c_.*data\/.*\.lance$/

/** What a collection finds and lists. */
const contents = (folder: string, name = "default") =>
  Effect.gen(function* () {
    const collection = yield* Effect.flatMap(storeIn(folder), (index) => index.open(name, MANIFEST))
    const words = "pond"
    const hits = yield* collection.search({ vector: embedText(words), words, limit: 20 })
    const found = new Set(hits.map(({ passage }) => passage.document.path))
    const documents = yield* collection.documents
    for (const { sha256 } of documents) assert.isDefined(yield* collection.original(sha256))
    return { listed: documents.map(({ path }) => path).toSorted(), found: [...found].toSorted() }
  }).pipe(Effect.scoped)

const without = (lost: string) => {
  const left = PATHS.filter((path) => path !== lost)
  return { listed: left, found: left }
}

it.live("a table that could not be opened once is opened at the next use", () =>
  Effect.gen(function* () {
    const { folder, library } = yield* testFolder
    yield* fill(library, "default")
    const [table, aside] = [join(library, "files.lance"), join(folder, "aside")]
    yield* Effect.promise(() => rename(table, aside))
    yield* Effect.promise(() => writeFile(table, ""))
    const collection = yield* Effect.flatMap(storeIn(library), (index) => index.open("default", MANIFEST))
    const [{ sha256 }] = (yield* collection.documents) as [DocumentInfo]
    assert.isTrue(Exit.isFailure(yield* Effect.exit(collection.original(sha256))))
    yield* Effect.promise(() => rm(table))
    yield* Effect.promise(() => rename(aside, table))
    assert.isDefined(yield* collection.original(sha256))
    yield* collection.commit([documentAt("late.md")])
  }).pipe(Effect.scoped)
)

describe("a version that another process dropped during a read", () => {
  it.live("is not damage: the read runs again, at the latest version", () =>
    Effect.gen(function* () {
      const { library: folder } = yield* testFolder
      const connection = yield* connect(folder)
      const rows = (from: number) => Array.from({ length: 9 }, (_, i) => ({ id: `${from + i}` }))
      const table = yield* Effect.promise(async () => {
        const table = await connection.createTable("t", rows(0))
        await table.add(rows(9))
        return table
      })
      const old = yield* Effect.promise(() => connection.openTable("t", undefined, { version: 2 }))
      yield* Effect.promise(async () => {
        const data = join(folder, "t.lance", "data")
        const files = await readdir(data)
        await table.optimize()
        for (const file of files) await rm(join(data, file), { force: true })
      })
      const repaired = repairing({ connection, folder, writing: connection }, Effect.succeed(table), () =>
        Effect.die("It was repaired.")
      )
      const read = (from: Table) =>
        attempt("store", "reading", async () => (await from.query().toArray()).length)
      assert.match(String((yield* Effect.flip(read(old))).cause), /not found/i)
      const reads = [old, table]
      assert.strictEqual(yield* repaired(Effect.suspend(() => read(reads.shift()!))), 18)
    }).pipe(Effect.scoped)
  )
})

describe("a damaged data file", () => {
  it.live("costs its document at once, and a later commit of it is found", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      yield* fill(library, "default")
      yield* harm(library, DATA, "the otter.md", overwriteEnd)
      const found = yield* LanceIndex.repair(library, false)
      assert.deepStrictEqual(found, ['collection "default": 3 rows cannot be read'])
      assert.deepStrictEqual(yield* contents(library), without("otter.md"))
      assert.deepStrictEqual(yield* LanceIndex.repair(library, false), [])
      const collection = yield* Effect.flatMap(storeIn(library), (index) => index.open("default", MANIFEST))
      yield* collection.commit([documentAt("otter.md")])
      assert.deepStrictEqual(yield* contents(library), { listed: PATHS, found: PATHS })
    }).pipe(Effect.scoped)
  )

  it.live("does not stop writes and removals, which may be the first to read it", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      yield* fill(library, "default")
      yield* harm(library, DATA, "the otter.md", overwriteEnd)
      const collection = yield* Effect.flatMap(storeIn(library), (index) => index.open("default", MANIFEST))
      yield* collection.remove([documentAt("pike.md").info.id])
      assert.deepStrictEqual((yield* contents(library)).found, ["heron.md"])
      yield* harm(library, /^files.*data\/.*\.lance$/, "the pike.md", overwriteEnd)
      yield* collection.commit([documentAt("otter.md")])
      assert.deepStrictEqual((yield* contents(library)).listed, ["heron.md", "otter.md"])
    }).pipe(Effect.scoped)
  )

  it.live("removes nothing by itself if no row can be read, and everything by the repair", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* Effect.flatMap(storeIn(library), (index) => index.open("default", MANIFEST))
      yield* collection.commit(PATHS.map(documentAt))
      yield* harm(library, DATA, "the otter.md", overwriteEnd)
      for (let i = 0; i < 2; i++) {
        const error = yield* Effect.flip(contents(library))
        assert.instanceOf(error, RagError)
        assert.match(error.message, /sluice doctor --repair/)
      }
      assert.deepStrictEqual(yield* LanceIndex.repair(library, true), [
        'collection "default": 9 rows cannot be read'
      ])
      assert.deepStrictEqual(yield* contents(library), { listed: [], found: [] })
    }).pipe(Effect.scoped)
  )

  it.live("of the originals costs the original of its document", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      yield* fill(library, "default")
      yield* harm(library, /^files.*data\/.*\.lance$/, "the pike.md", overwriteEnd)
      const collection = yield* Effect.flatMap(storeIn(library), (index) => index.open("default", MANIFEST))
      const originals = yield* Effect.forEach(PATHS, (path) =>
        collection.original(documentAt(path).info.sha256)
      )
      assert.deepStrictEqual(
        originals.map((bytes) => bytes !== undefined),
        [true, true, false]
      )
    }).pipe(Effect.scoped)
  )

  it.live("of the cached vectors costs its vectors", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const vectors = yield* Effect.flatMap(storeIn(library), (index) => index.vectors("paid", 2))
      const keys = ["ab", "cd"].map((key) => key.repeat(32))
      for (const key of keys) yield* vectors.put(new Map([[key, Float32Array.of(1, 2)]]))
      yield* harm(library, /^vectors_.*data\/.*\.lance$/, keys[1]!, overwriteEnd)
      const again = yield* Effect.flatMap(storeIn(library), (index) => index.vectors("paid", 2))
      assert.deepStrictEqual([...(yield* again.get(keys)).keys()], [keys[0]])
    }).pipe(Effect.scoped)
  )
})

describe("a damaged version", () => {
  it.live("of the snapshots or the originals leaves documents and passages", () =>
    Effect.gen(function* () {
      for (const table of ["snapshots", "files"]) {
        const { library } = yield* testFolder
        yield* fill(library, "default")
        yield* harm(library, new RegExp(`^${table}.*\\.manifest$`), "", overwriteEnd)
        const index = yield* storeIn(library)
        const collection = yield* index.open("default", MANIFEST)
        const hits = yield* collection.search({ words: "pond", limit: 20 })
        assert.strictEqual(new Set(hits.map(({ passage }) => passage.document.path)).size, 3)
        const { sha256 } = documentAt("pike.md").info
        const needed: Effect.Effect<unknown, RagError> =
          table === "files" ? collection.original(sha256) : index.tags("default")
        assert.match((yield* Effect.flip(needed)).message, /sluice doctor --repair/)
      }
    }).pipe(Effect.scoped)
  )

  it.live("of the cached vectors leaves the library, which caches none", () =>
    Effect.gen(function* () {
      const { library: folder } = yield* testFolder
      const files = (path: string) => ({ files: [{ path, bytes: new TextEncoder().encode(`The ${path}.`) }] })
      const { layer } = yield* countingEmbedder({ free: false })
      const open = Library.open(folder).pipe(Effect.provide(layer))
      yield* Effect.scoped(Effect.flatMap(open, ({ ingest }) => ingest(files("otter.md"))))
      yield* harm(folder, /^vectors_.*\.manifest$/, "", overwriteEnd)
      const library = yield* open
      assert.strictEqual((yield* library.ingest(files("pike.md"))).added, 1)
      assert.lengthOf(yield* library.documents, 2)
      assert.match((yield* LanceIndex.repair(folder, true)).join(), /newest version of table vectors_/)
      assert.isEmpty(yield* LanceIndex.repair(folder, false))
    }).pipe(Effect.scoped)
  )
})

describe("the repair of a damaged store", () => {
  it.live("names a document whose description is damaged, and removes its passages", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      yield* fill(library, "default")
      const { sha256 } = documentAt("otter.md").info
      const text = `"sha256":"${sha256}`
      yield* harm(library, DATA, text, (bytes) => void (bytes[bytes.indexOf(text)]! ^= 1))
      assert.deepStrictEqual(yield* LanceIndex.repair(library, true), [
        'collection "default": otter.md is lost'
      ])
      assert.deepStrictEqual(yield* contents(library), without("otter.md"))
    }).pipe(Effect.scoped)
  )

  it.live("goes back to the version before one that cannot be opened", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      yield* fill(library, "default")
      yield* harm(library, /^c_.*\.manifest$/, "", overwriteEnd)
      yield* Effect.flip(contents(library))
      const [fault] = yield* LanceIndex.repair(library, true)
      assert.match(fault ?? "", /newest version of table c_\w+ cannot be opened/)
      assert.deepStrictEqual(yield* contents(library), without("pike.md"))
    }).pipe(Effect.scoped)
  )
})

describe("the bytes of a collection", () => {
  it.live("are counted once, and then by what is written and removed", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      yield* fill(library, "default")
      const opened = Effect.flatMap(storeIn(library), (index) => index.open("default", MANIFEST))
      const collection = yield* opened
      const counted = Effect.flatMap(opened, ({ storedBytes }) => storedBytes)
      const before = yield* collection.storedBytes
      yield* collection.commit([documentAt("swan.md")])
      const replaces = yield* collection.document(documentAt("pike.md").info.id)
      yield* collection.commit([documentOf("pike.md", ["the pike.md left"], { replaces })])
      assert.notStrictEqual(yield* collection.storedBytes, before)
      assert.strictEqual(yield* collection.storedBytes, yield* counted)
      yield* collection.remove([documentAt("swan.md").info.id])
      assert.strictEqual(yield* collection.storedBytes, yield* counted)
      // Documents are not read again at once, so that another process' are not seen yet.
      const known = yield* collection.storedBytes
      yield* Effect.flatMap(opened, ({ commit }) => commit([documentAt("crane.md")]))
      assert.strictEqual(yield* collection.storedBytes, known)
      yield* collection.maintain
      assert.strictEqual(yield* collection.storedBytes, yield* counted)
    }).pipe(Effect.scoped)
  )

  it.live("are right after simultaneous removals and uploads of one document", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      yield* fill(library, "default")
      const opened = Effect.flatMap(storeIn(library), (index) => index.open("default", MANIFEST))
      const collection = yield* opened
      yield* collection.storedBytes
      const replaces = yield* collection.document(documentAt("pike.md").info.id)
      const versions = ["the pike.md left", "the pike.md left, and came back"]
      const both = { concurrency: "unbounded" } as const
      yield* Effect.forEach(
        versions,
        (text) => collection.commit([documentOf("pike.md", [text], { replaces })]),
        both
      )
      yield* Effect.forEach(versions, () => collection.commit([documentAt("swan.md")]), both)
      yield* Effect.forEach(versions, () => collection.remove([documentAt("otter.md").info.id]), both)
      const counted = yield* Effect.flatMap(opened, ({ storedBytes }) => storedBytes)
      assert.strictEqual(yield* collection.storedBytes, counted)
    }).pipe(Effect.scoped)
  )
})

describe("a damaged name of a collection", () => {
  it.live("costs that collection, which is not created again", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      for (const name of ["default", "other"]) yield* fill(library, name)
      yield* harm(library, /^collections.*data\/.*\.lance$/, "other", overwriteEnd)
      assert.deepStrictEqual((yield* contents(library)).listed, PATHS)
      const index = yield* storeIn(library)
      assert.deepStrictEqual(yield* index.collections, ["default"])
      const { reason } = yield* Effect.flip(index.open("other", MANIFEST))
      assert.strictEqual(reason, "Damaged")
      assert.strictEqual((yield* Effect.flip(index.tag("other", "before"))).reason, "Damaged")
      assert.match((yield* LanceIndex.repair(library, true)).join(), /A collection cannot be found/)
      yield* Effect.flip(index.open("other", MANIFEST))
    }).pipe(Effect.scoped)
  )

  it.effect.each([
    ["its name", "other"],
    ["its table", "c_"],
    ["its manifest", "test-words"]
  ] as const)("or a flipped bit of %s costs it alone, and its table is not dropped", ([, text]) =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      for (const name of ["default", "other"]) yield* fill(library, name)
      yield* harm(library, /^collections.*data\/.*\.lance$/, "\0other", (bytes) => {
        bytes[bytes.indexOf(text) + text.length - 1]! ^= 1
      })
      assert.deepStrictEqual((yield* contents(library)).listed, PATHS)
      const index = yield* storeIn(library)
      assert.include(yield* index.collections, "default")
      const { message, reason } = yield* Effect.flip(index.open("other", MANIFEST))
      assert.strictEqual(reason, "Damaged")
      assert.match(message, /^The row of collection "other" is damaged/)
      yield* index.open("new", MANIFEST)
      yield* TestClock.setTime(Date.now() + 48 * 3_600_000)
      yield* (yield* index.open("default", MANIFEST)).maintain
      const tables = (yield* Effect.promise(() => readdir(library))).filter((name) => name.startsWith("c_"))
      assert.lengthOf(tables, 3)
    }).pipe(Effect.scoped)
  )

  it.live("of an earlier version, which wrote no checksum, is found", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      yield* fill(library, "default")
      yield* Effect.promise(async () => {
        const collections = await (await lancedb.connect(library)).openTable("collections")
        const manifest = JSON.stringify(MANIFEST)
        await collections.update({ where: "true", values: { manifest } })
      })
      assert.deepStrictEqual((yield* contents(library)).listed, PATHS)
    }).pipe(Effect.scoped)
  )
})
