import { connect } from "@lancedb/lancedb"
import { assert, describe, it } from "@effect/vitest"
import { Library } from "@sluice/rag"
import { FORMAT } from "@sluice/rag/store"
import { Field, FixedSizeList, Float32, Int32, Schema, Utf8 } from "apache-arrow"
import { Effect, Stream } from "effect"
import { DIMENSION, modelsLayer } from "./Models.ts"
import { handbook } from "./TestFolder.ts"

const text = (name: string) => new Field(name, new Utf8(), true)
const integer = (name: string) => new Field(name, new Int32(), true)

/** The columns of format 1. */
const formatOne = new Schema([
  ...["id", "document", "kind"].map(text),
  integer("ordinal"),
  ...["hash", "text"].map(text),
  new Field("vector", new FixedSizeList(DIMENSION, new Field("item", new Float32(), true)), true),
  ...["page", "start", "end"].map(integer),
  ...["boxes", "headings", "crop", "metadata"].map(text)
])

/** Writes the default collection's documents into a table of format 1. */
const goBack = async (folder: string): Promise<void> => {
  const connection = await connect(folder)
  const collections = await connection.openTable("collections")
  const [named] = await collections.query().toArray()
  const present = await connection.openTable(named.table)
  const rows = await present.query().where("kind = 'document'").toArray()
  const old = await connection.createEmptyTable("c_00000000000000000000000000000001", formatOne)
  await old.add(
    rows.map(({ document, hash, id, metadata }) => {
      const { attachments: _1, reading: _2, ...known } = JSON.parse(metadata)
      return { id, document, kind: "document", hash, metadata: JSON.stringify(known) }
    })
  )
  const manifest = JSON.stringify({ ...JSON.parse(named.manifest), format: 1, chunker: "headings-1" })
  await collections.update({
    where: "true",
    values: { table: "c_00000000000000000000000000000001", manifest }
  })
  await connection.dropTable(named.table)
  connection.close()
}

describe("a collection of an older format", () => {
  it.effect("is refused with advice, and a rebuild converts it", () =>
    Effect.gen(function* () {
      const { docs, library: folder } = yield* handbook
      yield* Effect.scoped(Effect.flatMap(Library.open(folder), (library) => library.ingest(docs)))
      yield* Effect.promise(() => goBack(folder))
      const refused = yield* Effect.flip(Effect.scoped(Library.open(folder)))
      assert.strictEqual(refused.reason, "ManifestMismatch")
      assert.include(refused.message, `format 1, now ${FORMAT}`)
      assert.include(refused.message, "Library.rebuild")
      yield* Stream.runDrain(Library.rebuild(folder))
      const library = yield* Library.open(folder)
      assert.strictEqual((yield* library.documents).length, 3)
      assert.isTrue((yield* library.ask("Where does the grey cat sleep?")).found)
    }).pipe(Effect.scoped, Effect.provide(modelsLayer))
  )
})
