/** Copies of a library's folder that are made while it is written, compacted and pruned. */
import { connect } from "@lancedb/lancedb"
import { assert, describe, it } from "@effect/vitest"
import { LanceIndex, type PassageIndex, type StoredDocument } from "@sluice/rag/store"
import { Effect } from "effect"
import { once } from "node:events"
import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import { listLibraryFiles } from "../../packages/rag/src/store/LibraryFiles.ts"
import { documentOf, MANIFEST, storeIn } from "../rag/StoredDocuments.ts"
import { testFolder } from "../rag/TestFolder.ts"

const COPIES = 5

type Index = PassageIndex["Service"]

/** Two documents of one commit, whose passages name the round. */
const round = (n: number, replaces?: StoredDocument) =>
  ["a", "b"].map((path) =>
    documentOf(
      path,
      Array.from({ length: 5 }, (_, i) => `duck ${n} ${i}`),
      { replaces }
    )
  )

/** Compacts the collection, and drops at once what its older versions had. */
const prune = (library: string, index: Index) =>
  Effect.gen(function* () {
    yield* index.tag("default", "current")
    yield* Effect.promise(async () => {
      const connection = await connect(library)
      const names = (await connection.tableNames()).filter((name) => name.startsWith("c_"))
      for (const name of names) {
        // The other writers drop and change tables.
        const table = await connection.openTable(name).catch(() => undefined)
        const tags = await table?.tags()
        for (const tag of Object.keys((await tags?.list()) ?? {})) await tags?.delete(tag)
        await table?.optimize({ cleanupOlderThan: new Date() }).catch(() => undefined)
      }
      connection.close()
    })
  })

/** Checks a copy. Returns the round of its documents. */
const check = Effect.fnUntraced(function* (copy: string) {
  const index = yield* storeIn(copy)
  for (const name of yield* index.collections) assert.isDefined(yield* index.existing(name))
  const collection = yield* index.open("default", MANIFEST)
  const inventory = yield* collection.inventory
  assert.strictEqual(inventory.length, 2)
  const texts = yield* Effect.forEach(inventory, ({ info, isComplete }) =>
    Effect.gen(function* () {
      assert.isTrue(isComplete)
      const own = (yield* collection.passages(info.id)).map(({ text }) => text)
      const original = yield* collection.original(info.sha256)
      assert.strictEqual(Buffer.from(original ?? []).toString(), own.join("\n"))
      return own
    })
  )
  assert.deepStrictEqual(texts[0], texts[1])
  const hits = yield* collection.search({ words: "duck", limit: 50 })
  assert.strictEqual(hits.length, 2 * (texts[0]?.length ?? 0))
  assert.deepStrictEqual(yield* LanceIndex.repair(copy, false), [])
  return Number(texts[0]?.[0]?.split(" ")[1])
})

/**
 * Makes versions as fast as it can: of `collections`, each of which names a table of its own, and of a table with one data
 * file for each version. What only older versions need is deleted.
 */
const CHURN = `
const { mkdirSync, rmSync, writeFileSync } = require("node:fs")
const { join } = require("node:path")
const { parentPort, workerData } = require("node:worker_threads")
const name = (n) => String(2n ** 64n - 1n - BigInt(n)).padStart(20, "0") + ".manifest"
const write = (table, n) => {
  const folder = join(workerData, table + ".lance")
  for (const part of ["_versions", "data"]) mkdirSync(join(folder, part), { recursive: true })
  writeFileSync(join(folder, "data", n + ".lance"), "")
  writeFileSync(join(folder, "_versions", name(n)), "")
}
const remove = (table, n) => {
  rmSync(join(workerData, table + ".lance", "data", n + ".lance"))
  rmSync(join(workerData, table + ".lance", "_versions", name(n)))
}
for (let n = 1; ; n++) {
  write("c_" + n, 1)
  write("collections", n)
  for (let m = 20 * n; m < 20 * (n + 1); m++) {
    write("c_same", m)
    if (m > 20) remove("c_same", m - 1)
  }
  if (n > 1) {
    remove("collections", n - 1)
    rmSync(join(workerData, "c_" + (n - 1) + ".lance"), { recursive: true })
  }
  if (n === 2) parentPort.postMessage("ready")
}`

/** A table's newest version in a listing, from 1. */
const newestIn = (files: ReadonlyArray<string>, table: string) => {
  const [newest = ""] = files.filter((file) => file.startsWith(`${table}.lance/_versions/`)).toSorted()
  return 2n ** 64n - 1n - BigInt(/\d+/.exec(newest.split("/").at(-1) ?? "")?.[0] ?? 0)
}

describe("the files of a library", () => {
  it.live("have all that the newest versions need, while versions are made and dropped", () =>
    Effect.gen(function* () {
      const { folder } = yield* testFolder
      const worker = yield* Effect.acquireRelease(
        Effect.sync(() => new Worker(CHURN, { eval: true, workerData: folder })),
        (worker) => Effect.promise(() => worker.terminate())
      )
      yield* Effect.promise(() => once(worker, "message"))
      const seen = new Set<bigint>()
      while (seen.size < 20) {
        const files = yield* Effect.promise(() => listLibraryFiles(folder))
        const current = newestIn(files, "collections")
        assert.include(files, `c_${current}.lance/data/1.lance`)
        assert.include(files, `c_same.lance/data/${newestIn(files, "c_same")}.lance`)
        seen.add(current)
      }
    }).pipe(Effect.scoped)
  )
})

describe("a copy of a library in use", () => {
  it.live(
    "is whole and equals one moment, while documents change, collections come and go, and versions are dropped",
    () =>
      Effect.gen(function* () {
        const { folder, library } = yield* testFolder
        const index = yield* storeIn(library)
        const collection = yield* index.open("default", MANIFEST)
        yield* collection.commit(round(0))
        const present = yield* collection.document(round(0)[0]?.info.id ?? "")
        let written = 0
        const writing = Effect.forever(
          Effect.suspend(() => collection.commit(round(++written, present))).pipe(
            Effect.andThen(Effect.yieldNow)
          )
        )
        const comeAndGo = Effect.gen(function* () {
          yield* (yield* index.open("other", MANIFEST)).commit([documentOf("c", ["goose"])])
          yield* index.drop("other")
        })
        const copying = Effect.forEach(Array.from({ length: COPIES }), (_, n) =>
          Effect.gen(function* () {
            const before = written
            const copy = join(folder, `copy-${n}`)
            const changes = [comeAndGo, prune(library, index)]
            yield* Effect.all([LanceIndex.copy(library, copy), ...changes], { concurrency: 3 })
            const found = yield* check(copy).pipe(Effect.scoped)
            assert.isAtLeast(found, before - 1)
            yield* Effect.promise(() => rm(copy, { recursive: true }))
          })
        )
        yield* Effect.raceFirst(copying, writing)
        assert.isAbove(written, COPIES)
      }).pipe(Effect.scoped),
    120_000
  )

  it.effect("has its snapshots, and continues what an interrupted copy began", () =>
    Effect.gen(function* () {
      const { folder, library } = yield* testFolder
      const index = yield* storeIn(library)
      const collection = yield* index.open("default", MANIFEST)
      yield* collection.commit(round(1))
      yield* index.tag("default", "before")
      yield* collection.commit(round(2))
      const copy = join(folder, "copy")
      yield* LanceIndex.copy(library, copy)
      yield* collection.remove([round(1)[0]?.info.id ?? ""])
      yield* index.drop("default")
      yield* (yield* index.open("next", MANIFEST)).commit(round(3))
      yield* LanceIndex.copy(library, copy)
      const files = (name: string) =>
        Effect.promise(() => readdir(join(folder, name), { recursive: true, withFileTypes: true })).pipe(
          Effect.map((entries) => entries.flatMap((entry) => (entry.isFile() ? [entry.name] : [])).toSorted())
        )
      const isHint = (name: string) => !name.endsWith("hint.json")
      assert.deepStrictEqual(yield* files("copy"), (yield* files("library")).filter(isHint))
      const copied = yield* storeIn(copy)
      assert.deepStrictEqual(yield* copied.collections, ["next"])
      assert.strictEqual((yield* (yield* copied.open("next", MANIFEST)).stats).documents, 2)
    }).pipe(Effect.scoped)
  )

  it.effect("restores a snapshot", () =>
    Effect.gen(function* () {
      const { folder, library } = yield* testFolder
      const index = yield* storeIn(library)
      const collection = yield* index.open("default", MANIFEST)
      yield* collection.commit([documentOf("a", ["duck one"])])
      yield* index.tag("default", "before")
      yield* collection.commit([documentOf("a", ["duck two"])])
      yield* LanceIndex.copy(library, join(folder, "copy"))
      const copied = yield* storeIn(join(folder, "copy"))
      yield* copied.restore("default", "before", MANIFEST)
      const restored = yield* copied.open("default", MANIFEST)
      assert.deepStrictEqual(
        (yield* restored.search({ words: "duck", limit: 5 })).map(({ passage }) => passage.text),
        ["duck one"]
      )
    }).pipe(Effect.scoped)
  )
})
