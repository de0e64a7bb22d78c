import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { type IndexedDocument, LanceIndex, PassageIndex, type StoredDocument } from "@sluice/rag/store"
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { readdir } from "node:fs/promises"
import { DIMENSION, embedText } from "./Models.ts"
import { testFolder } from "./TestFolder.ts"

const MANIFEST = { format: 2, embeddingModel: "test-words", dimension: DIMENSION, chunker: "test" }

const documentOf = (
  path: string,
  texts: ReadonlyArray<string>,
  replaces?: StoredDocument
): IndexedDocument => {
  const id = Buffer.from(path.padEnd(16, "_").slice(0, 16)).toString("hex")
  const hash = createHash("sha256").update(texts.join("\n")).digest("hex")
  return {
    info: {
      id,
      path,
      title: path,
      format: "text",
      bytes: texts.join("").length,
      sha256: hash,
      passages: texts.length
    },
    source: "",
    original: new TextEncoder().encode(texts.join("\n")),
    attachments: new Map(),
    passages: texts.map((text, ordinal) => {
      const vector = embedText(text)
      return {
        passage: { ordinal, start: 0, end: text.length, text, headings: ["It's", 'a "path"'], lines: [] },
        hash: `${hash}${ordinal}`,
        vector: vector.some((value) => value !== 0) ? vector : undefined,
        search: text
      }
    }),
    replaces
  }
}

/** Another connection to the same folder, as in another process. */
const open = (folder: string) =>
  Effect.gen(function* () {
    const store = yield* Layer.build(LanceIndex.layer(folder))
    return yield* Effect.provideContext(
      Effect.flatMap(PassageIndex, (index) => index.open("default", MANIFEST)),
      store
    )
  })

const texts = (count: number, about: string) =>
  Array.from({ length: count }, (_, i) => `${about} passage number ${i} of ${about}`)

describe("LanceIndex", () => {
  it.effect("returns what was written, with quotes, and never a document's own row", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* open(library)
      const document = documentOf('o\'neil\\"docs".md', ["The cat's stove is warm.", "...", "Dogs bark."])
      yield* collection.commit([document])
      const hits = yield* collection.search({ vector: embedText("warm stove of the cat"), limit: 20 })
      // the text without a word has no vector, the document itself has neither
      assert.deepStrictEqual(
        hits.map(({ passage }) => passage.text).toSorted(),
        ["Dogs bark.", "The cat's stove is warm."].toSorted()
      )
      assert.strictEqual(hits[0]?.passage.text, "The cat's stove is warm.")
      assert.deepStrictEqual(hits[0]?.passage.document, {
        id: document.info.id,
        path: document.info.path,
        title: document.info.title,
        format: "text"
      })
      assert.deepStrictEqual(hits[0]?.passage.headings, ["It's", 'a "path"'])
      assert.closeTo(hits[0]?.similarity ?? 0, 0.7, 0.31)
      assert.deepStrictEqual(yield* collection.documents, [document.info])
      assert.deepStrictEqual(yield* collection.original(document.info.sha256), Buffer.from(document.original))
      assert.strictEqual((yield* collection.stats).passages, 3)
    }).pipe(Effect.scoped)
  )

  it.effect("removes the rest of a longer version", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* open(library)
      yield* collection.commit([documentOf("a", texts(9, "old")), documentOf("b", texts(2, "other"))])
      const seen = (yield* collection.inventory).find(({ info }) => info.path === "a")
      assert.isDefined(seen)
      yield* collection.commit([documentOf("a", texts(3, "new"), seen)])
      const hits = yield* collection.search({ vector: embedText("old new other passage"), limit: 100 })
      assert.deepStrictEqual(hits.map(({ passage }) => passage.text).toSorted(), [
        ...texts(3, "new"),
        ...texts(2, "other")
      ])
      yield* collection.settle
      assert.strictEqual((yield* collection.stats).passages, 5)
      assert.isTrue((yield* collection.inventory).every(({ isComplete }) => isComplete))
    }).pipe(Effect.scoped)
  )

  it.effect("changes nothing if a commit is repeated", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* open(library)
      const documents = [documentOf("a", texts(4, "first")), documentOf("b", texts(1, "second"))]
      yield* collection.commit(documents)
      yield* collection.commit(documents)
      assert.strictEqual((yield* collection.stats).passages, 5)
      assert.strictEqual((yield* collection.documents).length, 2)
    }).pipe(Effect.scoped)
  )

  it.effect("keeps one complete version if two writers commit the same new document", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const [one, two] = [yield* open(library), yield* open(library)]
      for (let round = 0; round < 8; round++) {
        const path = `document ${round}`
        const versions = [documentOf(path, texts(7, "long")), documentOf(path, texts(3, "short"))] as const
        yield* Effect.all([one.commit([versions[0]]), two.commit([versions[1]])], { concurrency: 2 })
        const hits = yield* one.search({ vector: embedText("long short passage number"), limit: 500 })
        const own = hits.flatMap(({ passage }) => (passage.document.path === path ? [passage.text] : []))
        assert.include([texts(7, "long").join(), texts(3, "short").join()], own.toSorted().join())
      }
      assert.isTrue((yield* two.inventory).every(({ isComplete }) => isComplete))
    }).pipe(Effect.scoped)
  )

  it.effect("keeps one complete version if a writer does not know of another's commit", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const [one, two] = [yield* open(library), yield* open(library)]
      yield* one.commit([documentOf("a", texts(5, "first"))])
      const seen = yield* two.document(documentOf("a", []).info.id)
      yield* one.commit([documentOf("a", texts(9, "second"), seen)])
      yield* two.commit([documentOf("a", texts(4, "third"), seen)])
      const hits = yield* one.search({ vector: embedText("first second third passage"), limit: 100 })
      assert.deepStrictEqual(hits.map(({ passage }) => passage.text).toSorted(), texts(4, "third"))
      assert.isTrue((yield* one.inventory).every(({ isComplete }) => isComplete))
    }).pipe(Effect.scoped)
  )

  it.effect("shows the commits of one connection to another at once", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const [one, two] = [yield* open(library), yield* open(library)]
      assert.strictEqual((yield* two.stats).passages, 0)
      yield* one.commit([documentOf("a", texts(2, "fresh"))])
      assert.strictEqual((yield* two.search({ vector: embedText("fresh passage"), limit: 5 })).length, 2)
      yield* two.remove((yield* two.documents).map(({ id }) => id))
      assert.strictEqual((yield* one.search({ vector: embedText("fresh passage"), limit: 5 })).length, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("refuses a commit with a duplicate document", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* open(library)
      const error = yield* Effect.flip(
        collection.commit([documentOf("a", texts(2, "x")), documentOf("a", texts(3, "y"))])
      )
      assert.strictEqual(error.reason, "Internal")
      assert.strictEqual((yield* collection.stats).passages, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("finds by vector and by words, inside and outside the index", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* open(library)
      yield* collection.commit([
        documentOf("one", [
          "The grey cats were sleeping.",
          "Boilers are inspected.",
          "锅炉每年春天检查一次。"
        ])
      ])
      const found = (words: string) =>
        Effect.map(collection.search({ words, limit: 3 }), (hits) =>
          hits.map(({ keywordRank, passage, vectorRank }) => [passage.text, keywordRank, vectorRank])
        )
      const cats = [["The grey cats were sleeping.", 1, undefined]]
      assert.deepStrictEqual(yield* found("Where does the cat sleep?"), cats)
      yield* collection.maintain
      assert.deepStrictEqual(yield* found("Where does the cat sleep?"), cats)
      assert.deepStrictEqual(yield* found("什么时候检查锅炉？"), [["锅炉每年春天检查一次。", 1, undefined]])
      yield* collection.commit([documentOf("late", ["A cat sleeps late.", "Dogs bark at boilers."])])
      assert.sameMembers(
        (yield* found("sleeping cats")).map(([text]) => text),
        ["The grey cats were sleeping.", "A cat sleeps late."]
      )
      const both = yield* collection.search({
        vector: embedText("dogs bark"),
        words: "inspected boiler",
        limit: 1,
        vectors: true
      })
      assert.deepStrictEqual(
        both.map(({ keywordRank, passage, vectorRank }) => [passage.text, vectorRank, keywordRank]),
        [
          ["Dogs bark at boilers.", 1, undefined],
          ["Boilers are inspected.", undefined, 1]
        ]
      )
      assert.deepStrictEqual(both[0]?.vector, embedText("Dogs bark at boilers."))
      assert.isAbove(both[1]?.keywordScore ?? 0, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("ignores stop words, and no other word in any language", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* open(library)
      const texts = ["心脏是循环系统的重要组成部分。", "该校属于教育部。", "The die is cast in the mine."]
      yield* collection.commit([documentOf("one", texts)])
      const found = (words: string) =>
        Effect.map(collection.search({ words, limit: 3 }), (hits) =>
          hits.map(({ passage }) => texts.indexOf(passage.text))
        )
      for (const indexed of [false, true]) {
        assert.deepStrictEqual(
          yield* Effect.forEach(["组成", "重要", "属于", "dies", "mines", "的", "什么", "in the"], found),
          [[0], [0], [1], [2], [2], [], [], []],
          indexed ? "indexed" : "not indexed yet"
        )
        yield* collection.maintain
      }
    }).pipe(Effect.scoped)
  )

  it.effect("has at least one result and any largest number", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* open(library)
      yield* collection.commit([documentOf("one", ["Dogs bark.", "Dogs sleep."])])
      for (const limit of [-1, 0, NaN, 1.9])
        assert.lengthOf(yield* collection.search({ vector: embedText("Dogs"), words: "dogs", limit }), 1)
      for (const limit of [2, 2 ** 31, 2 ** 32, 2 ** 53, Number.MAX_VALUE])
        assert.lengthOf(yield* collection.search({ vector: embedText("Dogs"), words: "dogs", limit }), 2)
    }).pipe(Effect.scoped)
  )

  it.effect("treats query syntax as words", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* open(library)
      yield* collection.commit([documentOf("one", ["Boilers are inspected.", "Cats sleep."])])
      for (const words of [
        '+boiler -inspected "cats sleep" AND NOT (',
        "search:boiler^2~1 *",
        "boiler'; DROP TABLE x; --",
        "boiler\\ \u0000 \ud800",
        `boiler ${"word ".repeat(5000)}`
      ]) {
        const hits = yield* collection.search({ words, limit: 5 })
        assert.include(
          hits.map(({ passage }) => passage.text),
          "Boilers are inspected.",
          words
        )
      }
      for (const words of ["", "  ", "the of", "?!", "'\"", "字".repeat(5000)])
        assert.deepStrictEqual(yield* collection.search({ words, limit: 5 }), [])
    }).pipe(Effect.scoped)
  )

  it.live("closes after a call in progress", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      yield* Effect.scoped(open(library))
      for (let delay = 0; delay < 100; delay += 5) {
        const scope = yield* Scope.make()
        const store = yield* Layer.buildWithScope(LanceIndex.layer(library), scope)
        const again = Effect.flatMap(PassageIndex, (index) => index.open("default", MANIFEST))
        const opening = yield* Effect.replicateEffect(again, 30, { concurrency: 30 }).pipe(
          Effect.provideContext(store),
          Effect.forkChild
        )
        yield* Effect.sleep(delay)
        const closed = yield* Effect.exit(Scope.close(scope, Exit.void))
        assert.isTrue(Exit.isSuccess(closed), String(closed))
        yield* Fiber.await(opening)
      }
    }).pipe(Effect.scoped)
  )

  it.live("maintains from two connections at once", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const [one, two] = [yield* open(library), yield* open(library)]
      for (let i = 0; i < 4; i++) yield* one.commit([documentOf(`document ${i}`, texts(2, `about ${i}`))])
      yield* Effect.all([one.maintain, two.maintain], { concurrency: 2 })
      assert.strictEqual((yield* two.stats).passages, 8)
    }).pipe(Effect.scoped)
  )

  it.effect("drops what nothing has referred to for a day", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const store = yield* Layer.build(LanceIndex.layer(library))
      const index = Context.get(store, PassageIndex)
      const [one, two] = [yield* index.open("one", MANIFEST), yield* index.open("two", MANIFEST)]
      const [shared, only] = [documentOf("shared", texts(1, "shared")), documentOf("only", texts(1, "only"))]
      yield* one.commit([shared, only])
      yield* two.commit([shared])
      yield* Effect.tap(index.replace("one", MANIFEST), ({ next }) => next.commit([shared]))
      yield* one.remove([shared.info.id, only.info.id])
      const tables = Effect.promise(
        async () => (await readdir(library)).filter((name) => name.startsWith("c_")).length
      )
      // the clock of the test begins in 1970: nothing is a day old
      yield* one.maintain
      assert.isDefined(yield* one.original(only.info.sha256))
      assert.strictEqual(yield* tables, 3)
      yield* TestClock.setTime(Date.now() + 25 * 60 * 60 * 1000)
      yield* one.maintain
      assert.isUndefined(yield* one.original(only.info.sha256))
      assert.isDefined(yield* one.original(shared.info.sha256))
      assert.strictEqual(yield* tables, 2)
      assert.strictEqual((yield* two.stats).passages, 1)
    }).pipe(Effect.scoped)
  )

  it.effect("drops a collection with its snapshots and originals, and no other", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const store = yield* Layer.build(LanceIndex.layer(library))
      const index = Context.get(store, PassageIndex)
      const [one, two] = [yield* index.open("it's one", MANIFEST), yield* index.open("two", MANIFEST)]
      const [shared, only] = [documentOf("shared", texts(1, "shared")), documentOf("only", texts(1, "only"))]
      yield* one.commit([shared, only])
      yield* two.commit([shared])
      yield* index.tag("it's one", "before")
      yield* Effect.tap(index.replace("it's one", MANIFEST), ({ publish }) => publish(Effect.void))
      yield* index.drop("it's one")
      const tables = (yield* Effect.promise(() => readdir(library))).filter((name) => name.startsWith("c_"))
      assert.strictEqual(tables.length, 1)
      assert.deepStrictEqual(yield* index.collections, ["two"])
      assert.isEmpty(yield* index.tags("it's one"))
      assert.strictEqual((yield* Effect.flip(index.drop("it's one"))).reason, "NotFound")
      yield* TestClock.setTime(Date.now() + 25 * 60 * 60 * 1000)
      yield* two.maintain
      assert.isUndefined(yield* two.original(only.info.sha256))
      assert.isDefined(yield* two.original(shared.info.sha256))
      assert.strictEqual((yield* two.stats).passages, 1)
      assert.strictEqual((yield* (yield* index.open("it's one", MANIFEST)).stats).passages, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("keeps cached vectors", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const store = yield* Layer.build(LanceIndex.layer(library))
      const cache = yield* Effect.provideContext(
        Effect.flatMap(PassageIndex, (index) => index.vectors("acme/embed 中文", DIMENSION)),
        store
      )
      const vector = embedText("a paid text")
      yield* cache.put(new Map([["k1", vector]]))
      yield* cache.put(new Map([["k1", vector]]))
      const found = yield* cache.get(["k1", "k'2"])
      assert.deepStrictEqual([...found], [["k1", vector]])
    }).pipe(Effect.scoped)
  )
})
