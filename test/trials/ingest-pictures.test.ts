/** Linked pictures that change while the document does not. */
import { assert, describe, it } from "@effect/vitest"
import { Vision } from "@sluice/core"
import { Library } from "@sluice/rag"
import { documentId, LanceIndex, PassageIndex } from "@sluice/rag/store"
import { Context, Effect, Layer, Stream } from "effect"
import { renameSync } from "node:fs"
import { join } from "node:path"
import { sha256 } from "../../packages/rag/src/document/Hash.ts"
import { mayLinkPictures } from "../../packages/rag/src/ingest/sources/LinkedPictures.ts"
import { png } from "../rag/DocxWriter.ts"
import { countingEmbedder, DIMENSION, modelsLayer, readerLayer, rerankerLayer } from "../rag/Models.ts"
import { testFolder } from "../rag/TestFolder.ts"

const PAGES = {
  "boiler.md": "# Boiler\n\nIts pressure falls.\n\n![Figure 1: The pressure.](img/the%20pressure.png)\n",
  "lift.html":
    '<h1>Lift</h1><p>It stands still.</p><figure><IMG SRC="img/lift.png"><figcaption>Figure 2: The lift.</figcaption></figure>',
  "both.md": "# Both\n\n![The pressure][p]\n\n![The lift](<./img/lift.png>)\n\n[p]: img/the%20pressure.png\n",
  "plain.md": "# Plain\n\nIt shows [the pressure](img/the%20pressure.png) to nobody, nor does this: !\n"
} as const

const FIRST = png(64, 48)
const SECOND = png(80, 60)

/** A folder of documents and pictures, a library of it, and the number of paid texts. */
const illustrated = Effect.gen(function* () {
  const test = yield* testFolder
  for (const [name, text] of Object.entries(PAGES)) yield* test.write(`docs/${name}`, text)
  for (const name of ["the pressure", "lift"]) yield* test.write(`docs/img/${name}.png`, FIRST)
  const { count, layer } = yield* countingEmbedder({ free: false })
  const models = Layer.mergeAll(layer, rerankerLayer, readerLayer)
  const library = yield* Library.open(test.library).pipe(Effect.provide(models))
  assert.deepStrictEqual((yield* library.ingest(test.docs)).failed, [])
  return { ...test, count, library, models }
})

const cropsOf = (library: typeof Library.Service, path: string) =>
  Effect.map(library.figures(documentId(path)), (figures) => figures.map(({ figure }) => figure.crop))

/** The documents that an ingest replaces, after checking that the plan names the same. */
const replacedBy = Effect.fnUntraced(function* (library: typeof Library.Service, docs: string) {
  const { calls, changes } = yield* library.plan(docs)
  const events = yield* Stream.runCollect(library.ingestEvents(docs))
  const replaced = events.flatMap((event) =>
    event.type === "document" && event.status === "replaced" ? [event.path] : []
  )
  assert.deepStrictEqual(
    changes.filter(({ change }) => change === "replaced").map(({ path }) => path),
    replaced
  )
  return { calls, replaced }
})

describe("a linked picture", () => {
  it.effect("that changes updates its document without a model call", () =>
    Effect.gen(function* () {
      const { count, docs, library, write } = yield* illustrated
      const paid = yield* count
      assert.deepStrictEqual(yield* replacedBy(library, docs), { calls: 0, replaced: [] })
      yield* write("docs/img/the pressure.png", SECOND)
      assert.deepStrictEqual(yield* replacedBy(library, docs), {
        calls: 0,
        replaced: ["boiler.md", "both.md", "img/the pressure.png"]
      })
      assert.deepStrictEqual(yield* cropsOf(library, "boiler.md"), [sha256(SECOND)])
      assert.deepStrictEqual(yield* cropsOf(library, "both.md"), [sha256(SECOND), sha256(FIRST)])
      yield* write("docs/img/lift.png", SECOND)
      assert.deepStrictEqual((yield* replacedBy(library, docs)).replaced, [
        "both.md",
        "img/lift.png",
        "lift.html"
      ])
      assert.deepStrictEqual(yield* cropsOf(library, "lift.html"), [sha256(SECOND)])
      assert.deepStrictEqual((yield* replacedBy(library, docs)).replaced, [])
      assert.strictEqual(yield* count, paid)
    }).pipe(Effect.scoped)
  )

  it.effect("that is deleted leaves its caption, and is read when it exists again", () =>
    Effect.gen(function* () {
      const { count, docs, library, remove, write } = yield* illustrated
      const paid = yield* count
      yield* remove("docs/img/lift.png")
      assert.deepStrictEqual((yield* replacedBy(library, docs)).replaced, ["both.md", "lift.html"])
      assert.deepStrictEqual(yield* cropsOf(library, "lift.html"), [undefined])
      assert.deepStrictEqual((yield* replacedBy(library, docs)).replaced, [])
      yield* write("docs/img/lift.png", FIRST)
      assert.deepStrictEqual((yield* replacedBy(library, docs)).replaced, ["both.md", "lift.html"])
      assert.deepStrictEqual(yield* cropsOf(library, "lift.html"), [sha256(FIRST)])
      assert.strictEqual(yield* count, paid)
    }).pipe(Effect.scoped)
  )

  it.effect("that changes after the plan skips its document", () =>
    Effect.gen(function* () {
      const { docs, library, write } = yield* illustrated
      yield* write("docs/img/the pressure.png", SECOND)
      yield* write("docs/new.md", "# New\n\n![The lift](img/lift.png)\n")
      const plan = yield* library.plan(docs)
      yield* write("docs/img/lift.png", SECOND)
      const report = yield* library.apply(plan)
      assert.deepStrictEqual(
        report.failed.map(({ error, path }) => `${path} ${error.reason} ${error.message.slice(0, 9)}`),
        ["both.md Stale A picture", "new.md Stale A picture"]
      )
      assert.deepStrictEqual([report.replaced, report.added], [2, 0])
      assert.deepStrictEqual(yield* cropsOf(library, "both.md"), [sha256(FIRST), sha256(FIRST)])
      assert.deepStrictEqual((yield* replacedBy(library, docs)).replaced, [
        "both.md",
        "img/lift.png",
        "lift.html"
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("survives a move of its folder, and a rebuild", () =>
    Effect.gen(function* () {
      const { docs, folder, library, models, write } = yield* illustrated
      const moved = join(folder, "moved")
      yield* Effect.sync(() => renameSync(docs, moved))
      assert.deepStrictEqual((yield* replacedBy(library, moved)).replaced, [])
      yield* Stream.runDrain(library.rebuild).pipe(Effect.provide(models))
      assert.deepStrictEqual((yield* replacedBy(library, moved)).replaced, [])
      yield* write("moved/img/lift.png", SECOND)
      assert.deepStrictEqual((yield* replacedBy(library, moved)).replaced, [
        "both.md",
        "img/lift.png",
        "lift.html"
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("is read once more if an earlier version did not record it", () =>
    Effect.gen(function* () {
      const { count, docs, library, library: _, ...test } = yield* illustrated
      const index = Context.get(yield* Layer.build(LanceIndex.layer(`${test.folder}/library`)), PassageIndex)
      const { chunker } = yield* library.stats
      const collection = yield* index.open("default", {
        format: 2,
        embeddingModel: "test-words",
        dimension: DIMENSION,
        chunker
      })
      const stored = yield* collection.inventory
      yield* collection.adopt(stored.map((known) => ({ ...known, pictures: undefined })))
      const paid = yield* count
      assert.deepStrictEqual(yield* replacedBy(library, docs), {
        calls: 0,
        replaced: ["boiler.md", "both.md", "lift.html"]
      })
      assert.deepStrictEqual((yield* replacedBy(library, docs)).replaced, [])
      assert.strictEqual(yield* count, paid)
    }).pipe(Effect.scoped)
  )

  it.effect("is not read for uploads", () =>
    Effect.gen(function* () {
      const { library: at } = yield* testFolder
      const library = yield* Library.open(at)
      const files = Object.entries(PAGES).map(([path, text]) => ({ path, bytes: Buffer.from(text) }))
      assert.strictEqual((yield* library.ingest({ files })).added, 4)
      assert.strictEqual((yield* library.ingest({ files })).unchanged, 4)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it("is looked for only in files that may link to one", () => {
    const mayShow = (path: string, bytes: Uint8Array) => Effect.runSync(mayLinkPictures(path, bytes))
    for (const text of ["a ![b](c.png)", "<img src=c>", "<IMG\nsrc=c>"]) {
      assert.isTrue(mayShow("a.md", Buffer.from(text)), text)
      assert.isTrue(mayShow("a.html", Buffer.from(text, "utf16le")), text)
      assert.isFalse(mayShow("a.txt", Buffer.from(text)), text)
    }
    for (const text of ["a [b](c.png)!", "<image>", "!"])
      assert.isFalse(mayShow("a.md", Buffer.from(text)), text)
  })
})

/** A library whose figures are described as `says`, and the pictures and captions that the model got. */
const describing = Effect.fnUntraced(function* (says: (asked: number) => string) {
  const test = yield* testFolder
  const asked: Array<string> = []
  const vision = Layer.succeed(
    Vision,
    Vision.of({
      model: { id: "eye", kind: "generative", maxImages: 1, maxImageBytes: 1e6, formats: ["png"] },
      look: (question, [image]) =>
        Effect.sync(() => {
          asked.push(`${sha256(image!)} ${/Its caption: "([^"]*)"/.exec(question)?.[1]}`)
          return { text: says(asked.length), tokens: 100 }
        })
    })
  )
  const library = yield* Library.open(test.library, { describeFigures: true }).pipe(
    Effect.provide(Layer.mergeAll(modelsLayer, vision))
  )
  const ingest = (path: string) =>
    Effect.map(library.ingest(`${test.docs}/${path}`), ({ failed }) => assert.deepStrictEqual(failed, []))
  const said = (path: string) =>
    Effect.map(library.figures(documentId(path)), (figures) => figures.map(({ figure }) => figure.said))
  return { ...test, asked, ingest, library, said }
})

describe("described figures", () => {
  it.effect("are paid once, if their documents change, are added again, or are rebuilt", () =>
    Effect.gen(function* () {
      const { asked, ingest, library, said, write } = yield* describing(
        (n) => `A curve, described as number ${n}.`
      )
      const boiler = PAGES["boiler.md"]
      yield* write("docs/boiler.md", boiler)
      yield* write("docs/img/the pressure.png", FIRST)
      yield* ingest("boiler.md")
      assert.deepStrictEqual(asked, [`${sha256(FIRST)} Figure 1: The pressure.`])
      const first = yield* said("boiler.md")
      assert.match(first.join(), /described as number 1/)

      yield* write("docs/boiler.md", `${boiler}\nIt falls in autumn too.\n`)
      yield* ingest("boiler.md")
      yield* Stream.runDrain(library.rebuild)
      assert.strictEqual(asked.length, 1, "another text, the same picture")
      assert.deepStrictEqual(yield* said("boiler.md"), first)

      yield* library.remove(documentId("boiler.md"))
      yield* ingest("boiler.md")
      assert.strictEqual(asked.length, 1, "removed and brought again")

      yield* write("docs/img/the pressure.png", SECOND)
      yield* ingest("boiler.md")
      assert.strictEqual(asked.length, 2, "another picture")
      yield* write("docs/boiler.md", boiler.replace("The pressure.", "The heat."))
      yield* ingest("boiler.md")
      assert.strictEqual(asked.at(-1), `${sha256(SECOND)} Figure 1: The heat.`)
      assert.match((yield* said("boiler.md")).join(), /described as number 3/)
    }).pipe(Effect.scoped)
  )

  it.effect("are described once, if many documents have them", () =>
    Effect.gen(function* () {
      const { asked, ingest, said, write } = yield* describing((n) => (n === 1 ? " " : "A curve."))
      const names = ["a.md", "b.md", "c.md"]
      for (const name of names)
        yield* write(`docs/${name}`, `# ${name}\n\n![Figure 1: The heat.](heat.png)\n`)
      yield* write("docs/heat.png", FIRST)
      yield* ingest("")
      const ofTexts = () => asked.filter((one) => one.endsWith(" Figure 1: The heat."))
      assert.strictEqual(ofTexts().length, 1)
      for (const name of names)
        yield* write(`docs/${name}`, `# Now ${name}\n\n![Figure 1: The heat.](heat.png)\n`)
      yield* ingest("")
      assert.strictEqual(ofTexts().length, 2)
      for (const name of names) assert.include((yield* said(`${name}`)).join(), "A curve.")
    }).pipe(Effect.scoped)
  )
})
