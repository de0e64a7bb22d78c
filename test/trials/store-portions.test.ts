/** Writes of large documents: other work of the thread runs between their batches. */
import { assert, it } from "@effect/vitest"
import { connect } from "@lancedb/lancedb"
import { Field, type RecordBatch, Schema, Table, Utf8 } from "apache-arrow"
import { Effect, Stream } from "effect"
import type { EmbeddedText } from "../../packages/rag/src/embedding/EmbeddingCalls.ts"
import type { PassageEmbedder } from "../../packages/rag/src/embedding/PassageEmbedder.ts"
import { ingestFiles } from "../../packages/rag/src/ingest/Ingest.ts"
import type { SourceFile } from "../../packages/rag/src/ingest/sources/Source.ts"
import type { Collection } from "../../packages/rag/src/store/PassageIndex.ts"
import { append } from "../../packages/rag/src/store/lance/Lance.ts"
import {
  documentRow,
  lanceRows,
  toBatches,
  toTable,
  utf8
} from "../../packages/rag/src/store/lance/LanceRows.ts"
import { documentOf, MANIFEST, storeIn } from "../rag/StoredDocuments.ts"
import { testFolder } from "../rag/TestFolder.ts"

it.live("each batch is made and written in a turn of its own", () =>
  Effect.gen(function* () {
    const { library } = yield* testFolder
    yield* Effect.promise(async () => {
      const connection = await connect(library)
      const schema = new Schema([new Field("text", new Utf8(), true)])
      const table = await connection.createEmptyTable("texts", schema)
      let turn = 0
      const turns: Array<number> = []
      const nextTurn = () => {
        turn++
        if (turns.length < 8) setImmediate(nextTurn)
      }
      setImmediate(nextTurn)
      function* batches(): Generator<RecordBatch> {
        for (let i = 0; i < 8; i++) {
          turns.push(turn)
          yield* toTable(schema, 2, [utf8([`first ${i}`, "中".repeat(1000)])]).batches
        }
      }
      await append(table, batches())
      // The count may begin in the turn of the first batch.
      assert.isAtLeast(new Set(turns).size, 7)
      assert.strictEqual(await table.countRows(), 16)
      assert.strictEqual(await table.countRows("text = 'first 7'"), 1)
    })
  }).pipe(Effect.scoped)
)

it("a batch has at most 100 rows", () => {
  const info = { path: "a.md", title: "A", format: "markdown", bytes: 1, sha256: "", passages: 0 }
  const rows = Array.from({ length: 250 }, (_, i) => documentRow({ id: `${i}`, ...info }, { source: "" }))
  const batches = [...toBatches(rows, 8)]
  assert.deepStrictEqual(
    batches.map(({ numRows }) => numRows),
    [100, 100, 50]
  )
  assert.strictEqual(new Table(batches).getChild("document")?.get(249), "249")
})

it("the rows of a batch have at most 5,000 locators together, or one row has more", () => {
  const [part] = documentOf("a.srt", ["the pond"]).passages
  const cues = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ start: i, end: i, label: `${i}` }))
  const counts = [...Array.from({ length: 40 }, () => 400), 9_000, 1]
  const passages = counts.map((count, ordinal) => ({
    ...part!,
    passage: { ...part!.passage, ordinal, locators: cues(count) }
  }))
  const rows = lanceRows([{ ...documentOf("a.srt", []), passages }])
  const batches = [...toBatches(rows, MANIFEST.dimension)]
  const sizes = batches.flatMap((batch) => batch.numRows)
  assert.strictEqual(
    sizes.reduce((sum, rows) => sum + rows, 0),
    43
  )
  // One more row than fits ends a batch.
  assert.isAtMost(Math.max(...sizes), 13)
})

it.live("other work runs while the keywords of a large document are made", () =>
  Effect.gen(function* () {
    let turn = 0
    let began = 0
    let ended = 0
    const collection = {
      adopt: () => Effect.void,
      commit: () => Effect.sync(() => void (ended = turn)),
      keep: () => Effect.void,
      remove: () => Effect.void,
      original: () => Effect.succeed(undefined)
    } as unknown as Collection
    const embedder = {
      embed: (texts: ReadonlyArray<unknown>) =>
        Effect.sync(() => {
          began = turn
          return texts.map((): EmbeddedText => ({ _tag: "Vector", vector: undefined }))
        })
    } as unknown as PassageEmbedder
    const gate = (i: number) =>
      `## Gate ${i}\n\n${"The gate opens at eight and its keeper says so. ".repeat(3)}\n\n`
    const text = Array.from({ length: 3_000 }, (_, i) => gate(i)).join("")
    const file: SourceFile = {
      path: "a.md",
      source: "",
      read: Effect.succeed(new TextEncoder().encode(text)),
      metadata: Effect.succeed(undefined)
    }
    const nextTurn = () => {
      turn++
      if (ended === 0) setImmediate(nextTurn)
    }
    setImmediate(nextTurn)
    const events = yield* Stream.runCollect(
      ingestFiles(Stream.succeed(file), collection, embedder, new Map())
    )
    assert.isTrue(events.some(({ type }) => type === "committed"))
    assert.isAtLeast(ended - began, 10)
  })
)

it.live.each([
  ["500 passages", 1_200, 0, 500],
  ["1 MB of JSON of passages", 60, 100_000, 12]
] as const)("at most %s are decoded before other work runs", ([, count, characters, expected]) =>
  Effect.gen(function* () {
    const { library } = yield* testFolder
    const collection = yield* Effect.flatMap(storeIn(library), (index) => index.open("default", MANIFEST))
    const document = documentOf(
      "a.md",
      Array.from({ length: count }, (_, i) => `passage ${i} of the pond${" ".repeat(characters)}`)
    )
    yield* collection.commit([document])
    const { parse } = JSON
    let inTurn = 0
    let most = 0
    let isOver = false
    const nextTurn = () => {
      inTurn = 0
      if (!isOver) setImmediate(nextTurn)
    }
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        JSON.parse = parse
        isOver = true
      })
    )
    JSON.parse = (...args) => {
      most = Math.max(most, ++inTurn)
      return parse(...args)
    }
    setImmediate(nextTurn)
    const passages = yield* collection.passages(document.info.id)
    assert.strictEqual(passages.length, count)
    assert.isAtMost(most, expected)
    assert.isAbove(most, 0)
  }).pipe(Effect.scoped)
)
