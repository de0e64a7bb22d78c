import { assert, describe, it } from "@effect/vitest"
import { Library, RagError } from "@sluice/rag"
import { Cause, Effect, Exit } from "effect"
import { cp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises"
import { extname, join } from "node:path"
import { embedText, modelsLayer } from "../rag/Models.ts"
import { documentOf, MANIFEST, storeIn } from "../rag/StoredDocuments.ts"
import { handbook, testFolder } from "../rag/TestFolder.ts"

const HARMS = {
  "cut in half": async (file: string) => truncate(file, Math.floor((await readFile(file)).length / 2)),
  "overwritten in the middle": async (file: string) => {
    const bytes = await readFile(file)
    const from = Math.floor(bytes.length / 4)
    await writeFile(
      file,
      bytes.map((byte, i) => (i >= from && i < from * 3 ? byte ^ 0x5a : byte))
    )
  },
  emptied: (file: string) => truncate(file, 0),
  lost: (file: string) => rm(file)
}

/** One file of each kind: manifests, rows, indexes, deletions, transactions, of each table. */
const kinds = async (folder: string, own: string): Promise<ReadonlyArray<string>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath, name).slice(folder.length + 1))
    .toSorted()
  const kinds = new Map<string, string>()
  for (const file of files) {
    if (file.startsWith("c_") && !file.startsWith(own)) continue
    const [table = "", folder = "", ...rest] = file.split("/")
    // manifests count down: the first one is the newest
    const kind = [table, folder, folder === "_indices" ? rest.at(-1) : extname(file)].join()
    if (!kinds.has(kind)) kinds.set(kind, file)
  }
  return [...kinds.values()]
}

const fill = (folder: string) =>
  Effect.gen(function* () {
    const index = yield* storeIn(folder)
    const hurt = yield* index.open("hurt", MANIFEST)
    const before = yield* Effect.promise(() => readdir(folder))
    for (let i = 0; i < 3; i++)
      yield* hurt.commit([
        documentOf(
          `one ${i}`,
          Array.from({ length: 60 }, (_, at) => `duck pond ${i} item${at}`)
        ),
        documentOf(`gone ${i}`, ["zebra"])
      ])
    yield* hurt.remove([documentOf("gone 1", []).info.id])
    yield* hurt.settle
    const well = yield* index.open("well", MANIFEST)
    yield* well.commit([documentOf("two", ["heron lake"])])
    return before.find((name) => name.startsWith("c_"))!
  }).pipe(Effect.scoped)

/** Reads and writes. */
const useAll = (folder: string, name: string, words: string) =>
  Effect.gen(function* () {
    const collection = yield* Effect.flatMap(storeIn(folder), (index) => index.open(name, MANIFEST))
    const hits = yield* collection.search({ vector: embedText(words), words, limit: 5 })
    const inventory = yield* collection.inventory
    for (const { info } of inventory) {
      yield* collection.passages(info.id)
      yield* collection.original(info.sha256)
    }
    yield* collection.commit([documentOf("another", ["heron"])])
    yield* collection.maintain
    return hits.length
  }).pipe(Effect.scoped)

describe("a damaged store", () => {
  it.live(
    "answers or fails with advice, and other collections are not affected",
    () =>
      Effect.gen(function* () {
        const { folder, library } = yield* testFolder
        const own = yield* fill(library)
        const files = yield* Effect.promise(() => kinds(library, own))
        assert.isAbove(files.length, 8)
        let told = 0
        for (const [h, [harm, apply]] of Object.entries(HARMS).entries()) {
          // each kind of file in one of the ways
          for (const [f, file] of files.entries()) {
            if ((f + h) % 4 !== 0) continue
            const copy = join(folder, "copy")
            yield* Effect.promise(() => cp(library, copy, { recursive: true }))
            yield* Effect.promise(() => apply(join(copy, file)))
            const exit = yield* Effect.exit(useAll(copy, "hurt", "duck pond"))
            if (Exit.isFailure(exit)) {
              const error = Cause.squash(exit.cause)
              assert.instanceOf(error, RagError, `${file} ${harm}: ${String(error)}`)
              assert.match(error.message, /copy|rebuild/i, `${file} ${harm}`)
              told++
            }
            if (file.startsWith(own))
              assert.strictEqual(yield* useAll(copy, "well", "heron lake"), 1, `${file} ${harm}`)
            yield* Effect.promise(() => rm(copy, { recursive: true }))
          }
        }
        assert.isAbove(told, 0)
      }).pipe(Effect.scoped),
    120_000
  )

  it.live("is repaired at the first search if only an index is damaged", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const library = yield* Library.open(at)
      yield* library.ingest(docs)
      yield* library.maintain
      const names = yield* Effect.promise(() => readdir(at, { recursive: true }))
      const words = names.filter((name) => name.includes("_indices") && name.endsWith("invert.lance"))
      assert.isNotEmpty(words)
      for (const name of words) yield* Effect.promise(() => HARMS["cut in half"](join(at, name)))
      const opened = yield* Library.open(at)
      const { kept } = yield* opened.retrieve("Is the boiler inspected?")
      assert.strictEqual(kept[0]?.document.path, "boiler.md")
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  /** Flips a bit of each place of a text in the data files of a table. */
  const flip = (folder: string, table: string, text: string) =>
    Effect.promise(async () => {
      let flipped = 0
      for (const name of await readdir(folder, { recursive: true })) {
        if (!name.startsWith(table) || !name.includes("data/") || !name.endsWith(".lance")) continue
        const bytes = await readFile(join(folder, name))
        for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
          bytes[at]! ^= 1
          flipped++
        }
        await writeFile(join(folder, name), bytes)
      }
      assert.isAbove(flipped, 0)
    })

  it.live("does not serve a damaged original", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      yield* Effect.scoped(Effect.flatMap(Library.open(at), (library) => library.ingest(docs)))
      yield* flip(at, "files", "The boiler must be inspected")
      const library = yield* Library.open(at)
      for (const { id, path } of yield* library.documents) {
        const exit = yield* Effect.exit(library.file(id))
        assert.strictEqual(Exit.isFailure(exit), path === "boiler.md", path)
        if (Exit.isFailure(exit)) assert.match(String(Cause.squash(exit.cause)), /damaged.*copy/)
        else assert.isNotEmpty((yield* library.document(id)).parsed.text)
      }
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.live("loses only the document whose row is damaged", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const paths = yield* Effect.scoped(
        Effect.gen(function* () {
          const library = yield* Library.open(at)
          yield* library.ingest(docs)
          return (yield* library.documents).map(({ path }) => path)
        })
      )
      // In the rows of the document and of its passages.
      yield* flip(at, "c_", '"path":"boiler.md"')
      const library = yield* Library.open(at)
      const rest = paths.filter((path) => path !== "boiler.md")
      assert.deepStrictEqual(
        (yield* library.documents).map(({ path }) => path),
        rest
      )
      const { kept } = yield* library.retrieve("Is the boiler inspected?")
      assert.isTrue(kept.every(({ document }) => rest.includes(document.path)))
      assert.strictEqual((yield* library.ingest(docs)).added, 1)
      assert.deepStrictEqual(
        (yield* library.documents).map(({ path }) => path),
        paths
      )
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )
})
