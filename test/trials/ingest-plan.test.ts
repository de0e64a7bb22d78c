/** A plan says what an ingest would do and cost, and is applied exactly. */
import { assert, describe, it } from "@effect/vitest"
import { Embedder } from "@sluice/core"
import { type IngestEvent, IngestPlan, Library } from "@sluice/rag"
import { Effect, Layer, Ref, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import { appendFileSync, rmSync, symlinkSync } from "node:fs"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { sha256 } from "../../packages/rag/src/document/Hash.ts"
import { DIMENSION, embedText, modelsLayer, readerLayer, rerankerLayer } from "../rag/Models.ts"
import { column, writePdf } from "../rag/PdfWriter.ts"
import { HANDBOOK, handbook, testFolder } from "../rag/TestFolder.ts"

/** A paid model, and the texts of each call. */
const paidModel = Effect.map(Ref.make<ReadonlyArray<ReadonlyArray<string>>>([]), (calls) => ({
  calls: Ref.get(calls),
  layer: Layer.mergeAll(
    Layer.succeed(
      Embedder,
      Embedder.of({
        model: { id: "paid", kind: "neural", free: false },
        dimension: Effect.succeed(DIMENSION),
        embed: (texts) =>
          Effect.as(
            Ref.update(calls, (before) => [...before, texts]),
            { vectors: texts.map((text) => embedText(text)), tokens: texts.length }
          )
      })
    ),
    rerankerLayer,
    readerLayer
  )
}))

/** Every file below a folder with the hash of its bytes. */
const bytesOf = (folder: string) =>
  Effect.promise(async () => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    const hash = async (file: string) =>
      createHash("sha256")
        .update(await readFile(file))
        .digest("hex")
    return Promise.all(files.toSorted().map(async (file) => `${file} ${await hash(file)}`))
  })

const long = (name: string, sections: number) =>
  `# ${name}\n\n${Array.from({ length: sections }, (_, i) => `## Part ${i}\n\n${`${name} says ${i} of it. `.repeat(20)}\n`).join("\n")}`

describe("plan", () => {
  it.effect("says what an ingest would do and cost, and does nothing", () =>
    Effect.gen(function* () {
      const { docs, library: at, remove, write } = yield* handbook
      const { calls, layer } = yield* paidModel
      yield* Effect.gen(function* () {
        const library = yield* Library.open(at)
        yield* library.ingest(docs)
        yield* write("docs/boiler.md", "# Boiler\n\nThe boiler is gone.\n")
        yield* write("docs/copy.md", HANDBOOK["docs/refunds.md"])
        yield* write("docs/new.md", long("New", 40))
        yield* write("docs/bad.txt", new Uint8Array([0, 1, 255, 254, 0]))
        yield* remove("docs/sub/cats.md")
        const before = [yield* bytesOf(at), yield* calls]
        const plan = yield* library.plan(docs, { per1000Tokens: 10 })
        assert.deepStrictEqual([yield* bytesOf(at), yield* calls], before)
        assert.deepStrictEqual(
          plan.changes.map(({ change, path }) => `${change} ${path}`),
          ["replaced boiler.md", "added copy.md", "added new.md", "removed sub/cats.md"]
        )
        assert.deepStrictEqual(
          plan.failed.map(({ path, reason }) => [path, reason]),
          [["bad.txt", "Malformed"]]
        )
        // The text of the copy is in the cache already.
        assert.deepStrictEqual([plan.unchanged, plan.cached, plan.texts], [1, 1, plan.passages - 1])
        assert.strictEqual(plan.calls, 1)
        assert.isTrue(plan.tokens.estimated > 40 && plan.tokens.estimated <= plan.tokens.atMost)
        assert.deepStrictEqual(plan.cost, {
          estimated: Math.ceil(plan.tokens.estimated / 100),
          atMost: Math.ceil(plan.tokens.atMost / 100)
        })
        assert.isUndefined((yield* library.plan(docs)).cost)
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.scoped)
  )

  it.effect("is applied exactly, down to the number of calls, also from JSON", () =>
    Effect.gen(function* () {
      const { docs, library: at, write } = yield* handbook
      const { calls, layer } = yield* paidModel
      for (let i = 0; i < 12; i++) yield* write(`docs/long${i}.md`, long(`Long ${i}`, 130))
      // Equal texts are paid once, within a commit and across commits.
      for (const name of ["again0", "long5b", "z"])
        yield* write(`docs/${name}.md`, HANDBOOK["docs/refunds.md"])
      yield* Effect.gen(function* () {
        const library = yield* Library.open(at)
        const plan = yield* library.plan({ folder: docs, metadata: (path) => ({ path }) })
        assert.isTrue(plan.passages > 1_100, "more than one commit")
        const kept = yield* Schema.decodeEffect(Schema.fromJsonString(IngestPlan))(JSON.stringify(plan))
        assert.deepStrictEqual(kept, plan)
        const events: Array<IngestEvent> = []
        yield* Stream.runForEach(library.applyEvents(kept), (event) => Effect.sync(() => events.push(event)))
        const sent = yield* calls
        assert.strictEqual(sent.length, plan.calls)
        assert.strictEqual(sent.flat().length, plan.texts)
        assert.strictEqual(new Set(sent.flat()).size, plan.texts)
        assert.deepStrictEqual(events[0], { type: "found", files: plan.changes.length })
        const last = events.at(-1)
        assert.isTrue(last?.type === "done" && last.report.added === 18 && last.report.failed.length === 0)
        assert.isTrue(last?.type === "done" && last.report.passages === plan.passages)
        assert.isTrue((yield* library.documents).every(({ metadata, path }) => metadata?.["path"] === path))
        const rest = yield* library.plan(docs)
        assert.deepStrictEqual([rest.changes, rest.unchanged, rest.calls, rest.passages], [[], 18, 0, 0])
        // Applied again, the plan does nothing.
        const again = yield* library.apply(plan)
        assert.deepStrictEqual([again.unchanged, again.added, again.passages], [18, 0, 0])
        assert.strictEqual((yield* calls).length, plan.calls)
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.scoped)
  )

  it.effect("can be applied again after an interruption, and pays nothing twice", () =>
    Effect.gen(function* () {
      const { docs, library: at, write } = yield* testFolder
      for (let i = 0; i < 20; i++) yield* write(`docs/${i}.md`, long(`Document ${i}`, 120))
      const calls = yield* Ref.make<ReadonlyArray<ReadonlyArray<string>>>([])
      const breaking = (after: number) =>
        Layer.mergeAll(
          Layer.succeed(
            Embedder,
            Embedder.of({
              model: { id: "paid", kind: "neural", free: false },
              dimension: Effect.succeed(DIMENSION),
              embed: (texts) =>
                Effect.gen(function* () {
                  if ((yield* Ref.get(calls)).length >= after) return yield* Effect.die("the power failed")
                  yield* Ref.update(calls, (before) => [...before, texts])
                  return { vectors: texts.map((text) => embedText(text)), tokens: texts.length }
                })
            })
          ),
          rerankerLayer,
          readerLayer
        )
      const applying = (plan: IngestPlan, after: number) =>
        Effect.scoped(Effect.flatMap(Library.open(at), (library) => library.apply(plan))).pipe(
          Effect.provide(breaking(after))
        )
      const plan = yield* Effect.scoped(
        Effect.flatMap(Library.open(at), (library) => library.plan(docs))
      ).pipe(Effect.provide(breaking(0)))
      assert.isTrue(plan.calls > 7, `${plan.calls} calls`)
      for (const after of [3, 7])
        assert.strictEqual((yield* Effect.exit(applying(plan, after)))._tag, "Failure")
      const report = yield* applying(plan, 1_000)
      assert.deepStrictEqual([report.failed, report.added + report.unchanged], [[], 20])
      assert.isTrue(report.unchanged > 0, "what was committed stayed")
      const sent = (yield* Ref.get(calls)).flat()
      assert.deepStrictEqual([sent.length, new Set(sent).size], [plan.texts, plan.texts])
    }).pipe(Effect.scoped)
  )

  it.effect("skips files that changed since, without paying for them", () =>
    Effect.gen(function* () {
      const { docs, library: at, remove, write } = yield* handbook
      const { calls, layer } = yield* paidModel
      yield* Effect.gen(function* () {
        const library = yield* Library.open(at)
        yield* library.ingest(docs)
        for (const name of ["kept", "edited", "vanished"]) yield* write(`docs/${name}.md`, long(name, 3))
        yield* remove("docs/sub/cats.md")
        yield* remove("docs/refunds.md")
        const plan = yield* library.plan(docs)
        assert.deepStrictEqual([plan.added, plan.removed], [3, 2])
        yield* write("docs/edited.md", long("edited", 50))
        yield* write("docs/late.md", long("late", 3))
        yield* remove("docs/vanished.md")
        yield* write("docs/refunds.md", HANDBOOK["docs/refunds.md"])
        const paid = (yield* calls).flat().length
        const report = yield* library.apply(plan)
        assert.deepStrictEqual(
          report.failed.map(({ error, path }) => `${path} ${error.reason} ${error.document}`),
          ["edited.md", "vanished.md", "refunds.md"].map((path) => `${path} Stale ${path}`)
        )
        assert.deepStrictEqual([report.added, report.removed, report.replaced], [1, 1, 0])
        const sent = (yield* calls).flat().slice(paid)
        assert.isTrue(sent.length > 0 && sent.every((text) => text.startsWith("kept")), sent.join("\n"))
        assert.deepStrictEqual(
          (yield* library.documents).map(({ path }) => path),
          ["boiler.md", "kept.md", "refunds.md"]
        )
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.scoped)
  )

  it.effect("sends no more texts than it counted if the cache changed", () =>
    Effect.gen(function* () {
      const { docs, folder, library: at } = yield* handbook
      const { calls, layer } = yield* paidModel
      yield* Effect.gen(function* () {
        const other = yield* Library.open(at, { collection: "other" })
        yield* other.ingest(docs)
        const plan = yield* (yield* Library.open(at)).plan(docs)
        assert.deepStrictEqual([plan.texts, plan.cached], [0, 3])
        const paid = (yield* calls).length
        const elsewhere = yield* Library.open(join(folder, "without-cache"))
        const report = yield* elsewhere.apply(plan)
        assert.deepStrictEqual(
          report.failed.map(({ error }) => error.reason),
          ["Stale", "Stale", "Stale"]
        )
        assert.strictEqual((yield* calls).length, paid)
        const free = yield* (yield* Library.open(at)).apply(plan)
        assert.deepStrictEqual([free.added, (yield* calls).length], [3, paid])
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.scoped)
  )

  it.effect("is rejected by another collection or other models", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const { layer } = yield* paidModel
      const library = yield* Library.open(at)
      const plan = yield* library.plan(docs)
      const other = yield* Library.open(at, { collection: "other" })
      const paid = yield* Library.open(`${at}2`).pipe(Effect.provide(layer))
      for (const [wrong, what] of [
        [other, "collection default"],
        [paid, "embeddingModel test-words"]
      ] as const) {
        const error = yield* Effect.flip(wrong.apply(plan))
        assert.strictEqual(error.reason, "Stale")
        assert.include(error.message, what)
        assert.strictEqual((yield* wrong.stats).documents, 0)
      }
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.live("covers circular links, files that are deleted or grow, and a text on two pages", () =>
    Effect.gen(function* () {
      const { docs, library: at, write } = yield* testFolder
      const { calls, layer } = yield* paidModel
      for (let i = 10; i < 30; i++) yield* write(`docs/${i}.md`, `# Number ${i}\n\nNote ${i}.\n`)
      const page = { marks: column(50, 700, ["The lift is out of order.", "It is mended on Monday."]) }
      yield* write("docs/notice.pdf", writePdf([page, page]))
      symlinkSync("self", join(docs, "self"))
      symlinkSync(docs, join(docs, "round"))
      yield* Effect.gen(function* () {
        const library = yield* Library.open(at)
        // The first file is read after the folder was listed, and before the other files are read.
        const plan = yield* library.plan({
          folder: docs,
          metadata: (path) => {
            if (path !== "10.md") return undefined
            rmSync(join(docs, "28.md"))
            appendFileSync(join(docs, "29.md"), "\nIt has grown.\n")
            return { first: true }
          }
        })
        assert.deepStrictEqual(
          plan.failed.map(({ path, reason }) => [path, reason]),
          [["self", "Malformed"]]
        )
        assert.deepStrictEqual([plan.added, plan.removed, plan.passages, plan.texts], [20, 0, 21, 20])
        const grown = plan.changes.find(({ path }) => path === "29.md")
        assert.strictEqual(grown?.sha256, sha256("# Number 29\n\nNote 29.\n\nIt has grown.\n"))
        assert.notInclude(
          plan.changes.map(({ path }) => path),
          "28.md"
        )
        const report = yield* library.apply(plan)
        assert.deepStrictEqual([report.failed, report.added, report.passages], [[], 20, 21])
        assert.strictEqual((yield* calls).flat().length, plan.texts)
        const { trace } = yield* library.retrieve("When is the lift mended?", { recall: 1 })
        assert.deepStrictEqual(trace.passages.map(({ passage }) => passage.page).toSorted(), [1, 2])
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.scoped)
  )

  it.effect("is empty for an empty folder, and fails for a missing one", () =>
    Effect.gen(function* () {
      const { folder, library: at, write } = yield* testFolder
      yield* write("empty/.hidden", "")
      const library = yield* Library.open(at)
      const plan = yield* library.plan(join(folder, "empty"), { per1000Tokens: 5 })
      assert.deepStrictEqual([plan.changes, plan.calls, plan.cost], [[], 0, { estimated: 0, atMost: 0 }])
      assert.strictEqual((yield* library.apply(plan)).added, 0)
      assert.strictEqual((yield* Effect.flip(library.plan(join(folder, "no")))).reason, "NotFound")
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )
})
