/** A library of format 1, written by the version before format 2, opened by this one. */
import { assert, describe, it } from "@effect/vitest"
import { connect } from "@lancedb/lancedb"
import { Filter, Library } from "@sluice/rag"
import { FORMAT, LanceIndex, type Manifest } from "@sluice/rag/store"
import { Effect, Layer, Stream } from "effect"
import { execFileSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { CHUNKER } from "../../packages/rag/src/chunking/Chunker.ts"
import { connect as openStore } from "../../packages/rag/src/store/lance/Lance.ts"
import { findMigrated } from "../../packages/rag/src/store/lance/LanceMigrations.ts"
import { type LanceNames, openNames } from "../../packages/rag/src/store/lance/LanceNames.ts"
import { passagesSchema } from "../../packages/rag/src/store/lance/LanceTables.ts"
import { countingEmbedder, modelsLayer, readerLayer, rerankerLayer } from "./Models.ts"
import { testFolder } from "./TestFolder.ts"

const oldLibrary = Effect.map(testFolder, ({ folder }) => {
  execFileSync("tar", ["xzf", join(import.meta.dirname, "fixtures/format-1.tar.gz"), "-C", folder])
  return join(folder, "library")
})

const manifestIn = (library: string) =>
  Effect.promise(async () => {
    const connection = await connect(library)
    const [row] = await (await connection.openTable("collections")).query().toArray()
    connection.close()
    return { table: row.table as string, ...JSON.parse(row.manifest) }
  })

const paths = ["boiler.md", "refunds.md", "report.pdf", "sub/cats.md"]

describe("a collection of format 1", () => {
  it.effect(
    "is migrated when it is opened: passages, vectors and documents stay, and nothing is embedded",
    () =>
      Effect.gen(function* () {
        const folder = yield* oldLibrary
        const { count, layer } = yield* countingEmbedder({ free: false })
        yield* Effect.gen(function* () {
          const library = yield* Library.open(folder)
          assert.deepStrictEqual((yield* library.documents).map(({ path }) => path).toSorted(), paths)
          const stats = yield* library.stats
          assert.deepInclude(stats, { documents: 4, passages: 16, chunker: "headings-1" })
          const asked = yield* library.ask("Where does the grey cat sleep?")
          assert.include(asked.answer, "warm stove")
          const words = yield* library.retrieve("inspected boiler spring", { recall: 5 })
          assert.isTrue(
            words.trace.passages.some(({ vectorRank, keywordRank }) => vectorRank === 1 && keywordRank === 1)
          )
          const page = yield* library.retrieve("inspection report findings", {
            filter: Filter.equals("path", "report.pdf")
          })
          const [cited] = page.kept
          assert.isDefined(cited?.page)
          assert.isNotEmpty(cited?.lines)
          for (const info of yield* library.documents) {
            const { parsed } = yield* library.document(info.id)
            assert.isNotEmpty(parsed.text)
          }
          assert.strictEqual(yield* count, 0)
        }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(layer, rerankerLayer, readerLayer)))
        assert.deepInclude(yield* manifestIn(folder), { format: FORMAT, chunker: "headings-1" })
        assert.deepStrictEqual(yield* LanceIndex.repair(folder, false), [])
      }).pipe(Effect.scoped)
  )

  it.effect("is migrated once if several processes open it at the same time", () =>
    Effect.gen(function* () {
      const folder = yield* oldLibrary
      const open = Effect.scoped(Effect.flatMap(Library.open(folder), (library) => library.stats))
      const stats = yield* Effect.all([open, open, open], { concurrency: 3 })
      assert.deepStrictEqual(
        stats.map(({ passages }) => passages),
        [16, 16, 16]
      )
      const tables = (yield* Effect.promise(() => readdir(folder))).filter((name) => name.startsWith("c_"))
      assert.lengthOf(tables, 2)
      assert.include(tables, `${(yield* manifestIn(folder)).table}.lance`)
    }).pipe(Effect.scoped, Effect.provide(modelsLayer))
  )

  it.effect(
    "stays as it was if the migration is killed, and has what an older version writes during it",
    () =>
      Effect.gen(function* () {
        const folder = yield* oldLibrary
        const { table } = yield* manifestIn(folder)
        const connection = yield* openStore(folder)
        const names = openNames(yield* Effect.promise(() => connection.openTable("collections")))
        const makeTable = ({ dimension }: Manifest) =>
          Effect.promise(async () => {
            const name = `c_${randomUUID().replaceAll("-", "")}`
            await connection.createEmptyTable(name, passagesSchema(dimension))
            return name
          })
        const migrateWith = (move: LanceNames["move"]) =>
          findMigrated(connection, { ...names, move }, "default", makeTable)
        yield* Effect.exit(migrateWith(() => Effect.interrupt))
        assert.deepInclude(yield* manifestIn(folder), { table, format: 1 })

        const old = yield* Effect.promise(() => connection.openTable(table))
        const remove = Effect.promise(() => old.delete("kind = 'passage' AND ordinal = 0"))
        let writes = 0
        const moved = yield* migrateWith((...args) =>
          Effect.suspend(() =>
            writes++ === 0 ? Effect.andThen(remove, names.move(...args)) : names.move(...args)
          )
        )
        assert.strictEqual(writes, 2)
        const present = yield* Effect.promise(() => connection.openTable(moved?.table ?? ""))
        assert.strictEqual(
          yield* Effect.promise(() => present.countRows("kind = 'passage'")),
          16 - paths.length
        )
        const tables = yield* Effect.promise(() => connection.tableNames())
        assert.lengthOf(
          tables.filter((name) => name.startsWith("c_")),
          2
        )
      }).pipe(Effect.scoped)
  )

  it.effect("is converted by a rebuild with the present chunker", () =>
    Effect.gen(function* () {
      const folder = yield* oldLibrary
      yield* Stream.runDrain(Library.rebuild(folder))
      assert.deepInclude(yield* manifestIn(folder), { format: FORMAT, chunker: CHUNKER })
      const library = yield* Library.open(folder)
      assert.strictEqual((yield* library.documents).length, 4)
      assert.isTrue((yield* library.ask("Where does the grey cat sleep?")).found)
    }).pipe(Effect.scoped, Effect.provide(modelsLayer))
  )

  it.effect("of a format that no step migrates is refused with advice", () =>
    Effect.gen(function* () {
      const folder = yield* oldLibrary
      yield* Effect.promise(async () => {
        const connection = await connect(folder)
        const collections = await connection.openTable("collections")
        const [row] = await collections.query().toArray()
        const manifest = JSON.stringify({ ...JSON.parse(row.manifest), check: undefined, format: 0 })
        await collections.update({ where: "true", values: { manifest } })
      })
      const refused = yield* Effect.flip(Effect.scoped(Library.open(folder)))
      assert.strictEqual(refused.reason, "ManifestMismatch")
      assert.include(refused.message, `format 0, now ${FORMAT}`)
      assert.include(refused.message, "Library.rebuild")
    }).pipe(Effect.scoped, Effect.provide(modelsLayer))
  )
})
