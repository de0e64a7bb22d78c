import { type DocumentRecord, Filter, Library, type SourceItem } from "@sluice/rag"
import { Chunker, DocumentFormats, documentFormats } from "@sluice/rag/formats"
import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer, Result, Schema, Stream } from "effect"
import { countingEmbedder, embedderLayer, modelsLayer, rerankerLayer } from "./Models.ts"
import { testFolder } from "./TestFolder.ts"

const lock: DocumentRecord = {
  id: "tickets//17?",
  title: "Lock 17",
  text: "The lock at Harlow opens at six in the morning. It closes at nine in the evening.",
  url: "https://example.com/tickets/17",
  metadata: { team: "locks" }
}
const ferry: DocumentRecord = {
  id: "ferry",
  passages: [
    "The ferry leaves at noon.",
    { text: "A ticket for the ferry costs four pounds.", headings: ["Prices"] }
  ]
}

const open = Effect.gen(function* () {
  const { library } = yield* testFolder
  return yield* Library.open(library)
})
const paths = (documents: ReadonlyArray<{ readonly path: string }>) => documents.map(({ path }) => path)

class Down extends Schema.TaggedError<Down>()("Down", { host: Schema.String }) {}

it.effect("records are documents under their own identifiers", () =>
  Effect.gen(function* () {
    const library = yield* open
    expect(yield* library.upsert([lock, ferry])).toMatchObject({ added: 2, passages: 3, failed: [] })
    expect(yield* library.upsert([lock, ferry])).toMatchObject({ unchanged: 2, passages: 0 })
    expect(yield* library.info("tickets//17?")).toMatchObject({ title: "Lock 17", url: lock.url })
    const own = yield* library.passages("ferry")
    expect(own.map(({ headings, text }) => [text, headings])).toEqual([
      ["The ferry leaves at noon.", []],
      ["A ticket for the ferry costs four pounds.", ["Prices"]]
    ])
    yield* library.remove("ferry")
    expect(paths(yield* library.documents)).toEqual([lock.id])
  }).pipe(Effect.provide(modelsLayer))
)

it.effect("hits and citations have the score, and the document's URL and metadata", () =>
  Effect.gen(function* () {
    const library = yield* open
    yield* library.upsert([lock, ferry])
    const answer = yield* library.ask("When does the lock at Harlow open in the morning?")
    expect(answer.citations[0]).toMatchObject({ document: lock.id, url: lock.url, metadata: lock.metadata })
    expect(answer.citations[0]!.score).toBeGreaterThan(0)
    // The metadata alone changes: no passage is written again.
    yield* library.upsert([{ ...lock, metadata: { team: "boats" } }])
    const { kept, trace } = yield* library.retrieve("When does the lock at Harlow open?")
    expect(kept[0]).toMatchObject({ document: { url: lock.url, metadata: { team: "boats" } } })
    expect(kept[0]!.score).toBe(trace.passages.find(({ passage }) => passage.id === kept[0]!.id)?.rerankScore)
  }).pipe(Effect.provide(modelsLayer))
)

it.effect("an invalid record fails alone", () =>
  Effect.gen(function* () {
    const library = yield* open
    const report = yield* library.upsert([
      { id: "", text: "none" },
      { id: "both", text: "one", passages: ["two"] },
      { id: "neither" },
      { id: "blank", text: " " },
      { id: "script", text: "a text", url: "javascript:alert(1)" },
      { id: "nan", text: "a text", metadata: { n: Number.NaN } },
      ferry
    ])
    expect(report.failed.map(({ error, path }) => [path, error.reason])).toEqual([
      ["", "Malformed"],
      ["both", "Malformed"],
      ["neither", "Malformed"],
      ["blank", "Empty"],
      ["script", "Malformed"],
      ["nan", "Malformed"]
    ])
    expect(paths(yield* library.documents)).toEqual(["ferry"])
  }).pipe(Effect.provide(modelsLayer))
)

it.effect("the markup of a record's text is not shown", () =>
  Effect.gen(function* () {
    const library = yield* open
    yield* library.upsert([
      { id: "md", format: "markdown", text: "# Weir\n\nThe **weir** is [open](x.html)." },
      { id: "html", format: "html", text: "<h1>Quay</h1><p>The <b>quay</b> is shut.</p>" }
    ])
    expect((yield* library.passages("md"))[0]!.text).toContain("The weir is open.")
    expect((yield* library.passages("html"))[0]).toMatchObject({ headings: ["Quay"] })
    const { parsed } = yield* library.document("html")
    expect(parsed.text).toContain("The quay is shut.")
  }).pipe(Effect.provide(modelsLayer))
)

it.effect("a rebuild makes the passages of records again", () =>
  Effect.gen(function* () {
    const { library: folder } = yield* testFolder
    const first = yield* Library.open(folder)
    yield* first.sync("tickets", Stream.make(lock, ferry))
    const before = yield* first.passages("ferry")
    yield* Stream.runDrain(first.rebuild)
    expect(yield* first.passages("ferry")).toEqual(before)
    expect(yield* first.info(lock.id)).toMatchObject({ url: lock.url, metadata: lock.metadata })
    // The source is still known: what it no longer gives is removed.
    expect(yield* first.sync("tickets", Stream.make(ferry))).toMatchObject({ unchanged: 1, removed: 1 })
  }).pipe(Effect.provide(modelsLayer))
)

it.effect("a sync removes what its source no longer has, and nothing of others", () =>
  Effect.gen(function* () {
    const library = yield* open
    yield* library.upsert([{ id: "own", text: "A note of my own." }])
    yield* library.sync(
      "a",
      Stream.make<Array<SourceItem>>({ id: "a/1", text: "one" }, { id: "a/2", text: "two" })
    )
    yield* library.sync("b", Stream.make<Array<SourceItem>>({ id: "b/1", text: "three" }))
    const report = yield* library.sync(
      "a",
      Stream.make<Array<SourceItem>>({ id: "a/2", text: "two" }, { id: "b/1", text: "mine" })
    )
    expect(report).toMatchObject({ unchanged: 1, removed: 1 })
    expect(report.failed.map(({ error }) => error.message)).toEqual([
      expect.stringContaining("b/1 belongs to the source b")
    ])
    expect(paths(yield* library.documents)).toEqual(["a/2", "b/1", "own"])
    // Changes only.
    const changes: ReadonlyArray<SourceItem> = [
      { removed: "a/2" },
      { removed: "own" },
      { id: "a/3", text: "four" }
    ]
    yield* library.sync("a", Stream.fromIterable(changes), { partial: true })
    expect(paths(yield* library.documents)).toEqual(["a/3", "b/1", "own"])
    // The same effect again: it has seen nothing yet.
    const given = ["c/1", "c/2"].map((id): SourceItem => ({ id, text: id }))
    const again = library.sync(
      "c",
      Stream.suspend(() => Stream.fromIterable(given))
    )
    yield* again
    given.pop()
    expect(yield* again).toMatchObject({ unchanged: 1, removed: 1 })
  }).pipe(Effect.provide(modelsLayer))
)

it.effect("a source fails with its own error: nothing is removed, and the next sync continues", () =>
  Effect.gen(function* () {
    const { count, layer } = yield* countingEmbedder()
    const { library: folder } = yield* testFolder
    const library = yield* Library.open(folder).pipe(Effect.provide(layer))
    const item = (n: number): SourceItem => ({ id: `n/${n}`, text: `Number ${n} of the list.` })
    yield* library.sync("n", Stream.make(item(9)))
    const failing = Stream.concat(Stream.make(item(1), item(2)), Stream.fail(new Down({ host: "db" })))
    const result = yield* Effect.result(library.sync("n", failing))
    expect(Result.isFailure(result) && result.failure).toEqual(new Down({ host: "db" }))
    expect(paths(yield* library.documents)).toEqual(["n/1", "n/2", "n/9"])
    const before = yield* count
    const done = yield* library.sync("n", Stream.make(item(1), item(2), item(3)))
    expect(done).toMatchObject({ added: 1, unchanged: 2, removed: 1 })
    expect((yield* count) - before).toBe(1)
  })
)

it.effect("an item whose version is stored is not read, and one that fails stays as it was", () =>
  Effect.gen(function* () {
    const library = yield* open
    const reads: Array<string> = []
    const item = (id: string, version: string, text: string): SourceItem<Down> => ({
      id,
      version,
      read: Effect.suspend(() => {
        reads.push(id)
        return text === "" ? Effect.fail(new Down({ host: "db" })) : Effect.succeed({ text })
      })
    })
    yield* library.sync("v", Stream.make(item("1", "a", "first"), item("2", "a", "second")))
    const report = yield* library.sync("v", Stream.make(item("1", "a", "first"), item("2", "b", "")))
    expect(reads).toEqual(["1", "2", "2"])
    expect(report).toMatchObject({ unchanged: 1, removed: 0 })
    expect(report.failed[0]?.error).toMatchObject({ reason: "Source", cause: { host: "db" } })
    expect((yield* library.passages("2"))[0]!.text).toBe("second")
  }).pipe(Effect.provide(modelsLayer))
)

it.live("a slow source delays no rebuild and no upload, and its first records are found", () =>
  Effect.gen(function* () {
    const library = yield* open
    const latch = yield* Latch.make()
    const written = yield* Latch.make()
    const slow = Stream.concat(
      Stream.make<Array<SourceItem>>({ id: "s/1", text: "The first of the source." }),
      Stream.fromEffect(Effect.as(latch.await, { id: "s/2", text: "The last of the source." } as SourceItem))
    )
    const syncing = yield* library.syncEvents("slow", slow).pipe(
      Stream.tap((event) => (event.type === "committed" ? written.open : Effect.void)),
      Stream.runDrain,
      Effect.forkScoped
    )
    yield* written.await
    yield* Stream.runDrain(library.rebuild)
    yield* library.upsert([ferry])
    expect(paths(yield* library.documents)).toEqual(["ferry", "s/1"])
    yield* latch.open
    yield* Fiber.join(syncing)
    expect(paths(yield* library.documents)).toEqual(["ferry", "s/1", "s/2"])
  }).pipe(Effect.scoped, Effect.provide(modelsLayer))
)

it.effect("documents are listed in pages, and removed by a filter", () =>
  Effect.gen(function* () {
    const library = yield* open
    yield* library.upsert(
      ["a", "b", "c", "d", "e"].map((id, n) => ({ id, text: `Text ${id}.`, metadata: { n } }))
    )
    const filter = Filter.range(["metadata", "n"], { from: 1 })
    const first = yield* library.list({ filter, limit: 2 })
    expect([paths(first.documents), first.next]).toEqual([["b", "c"], "c"])
    const last = yield* library.list({ filter, limit: 2, after: first.next })
    expect([paths(last.documents), last.next]).toEqual([["d", "e"], undefined])
    expect(paths(yield* library.removeWhere(Filter.in("path", ["a", "e"])))).toEqual(["a", "e"])
    expect(paths((yield* library.list()).documents)).toEqual(["b", "c", "d"])
    const wrong = yield* Effect.result(library.removeWhere(Filter.equals("page", 1)))
    expect(Result.isFailure(wrong) && wrong.failure.reason).toBe("Malformed")
    expect(paths((yield* library.list()).documents)).toEqual(["b", "c", "d"])
  }).pipe(Effect.provide(modelsLayer))
)

it.effect(
  "a library opens with an embedder alone; retrieval says which model it needs, and answers the next",
  () =>
    Effect.gen(function* () {
      const library = yield* open
      yield* library.upsert([ferry])
      const failure = yield* Effect.flip(library.retrieve("When does the ferry leave?"))
      expect([failure.reason, failure.message]).toEqual([
        "Model",
        expect.stringContaining("without a Reranker")
      ])
      const ranked = yield* open.pipe(Effect.provide(rerankerLayer))
      yield* ranked.upsert([ferry])
      expect((yield* ranked.retrieve("When does the ferry leave?")).kept).toHaveLength(2)
      const unread = yield* Effect.flip(ranked.ask("When does the ferry leave?"))
      expect(unread.message).toContain("without a Reader")
    }).pipe(Effect.provide(embedderLayer))
)

it.effect("a chunker and formats of one's own are used, and recorded in the manifest", () =>
  Effect.gen(function* () {
    const { library: folder } = yield* testFolder
    const sentences = (id: string) =>
      Layer.succeed(Chunker, {
        id,
        chunk: ({ text }) =>
          [...text.matchAll(/[^.]+\./g)].map(({ 0: { length }, index }) => ({
            start: index,
            end: index + length,
            headings: ["Cut"]
          }))
      })
    const formats = Layer.succeed(
      DocumentFormats,
      documentFormats.map((format) => (format.id === "text" ? { ...format, version: "2" } : format))
    )
    const bytes = new TextEncoder().encode("One lock. Two weirs. Three quays.")
    const library = yield* Library.open(folder).pipe(Effect.provide([sentences("sentences-1"), formats]))
    yield* library.ingest({ files: [{ path: "a.txt", bytes }] })
    yield* library.upsert([ferry])
    expect((yield* library.passages("a.txt")).map(({ text }) => text.trim())).toEqual([
      "One lock.",
      "Two weirs.",
      "Three quays."
    ])
    // Passages of a record's own are not cut.
    expect(yield* library.passages("ferry")).toHaveLength(2)
    expect(yield* library.stats).toMatchObject({ chunker: "sentences-1 with text@2", isOutdated: false })
    const other = yield* Library.open(folder).pipe(Effect.provide(sentences("sentences-2")))
    expect(yield* other.stats).toMatchObject({ isOutdated: true })
    yield* Stream.runDrain(other.rebuild)
    expect(yield* other.stats).toMatchObject({ chunker: "sentences-2", isOutdated: false })
    for (const [passages, message] of [
      [[{ start: 0, end: 1e9, headings: [] }], "gave a passage outside of the text"],
      [[null], "gave a passage outside of the text"],
      [[], "gave no passages"],
      [undefined, "gave no passages"]
    ] as const) {
      const broken = yield* Library.open(folder).pipe(
        Effect.provideService(Chunker, { id: "b", chunk: () => passages as never })
      )
      const report = yield* broken.ingest({ files: [{ path: "b.txt", bytes }] })
      expect(report.failed[0]?.error.message).toContain(`the chunker b ${message}`)
    }
  }).pipe(Effect.provide(modelsLayer))
)
