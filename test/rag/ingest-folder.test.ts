/** Folders with odd names, circular links, changing files or few passages. */
import { assert, describe, it } from "@effect/vitest"
import { Library } from "@sluice/rag"
import { MAX_FILE_BYTES } from "@sluice/rag/formats"
import { Effect } from "effect"
import { appendFileSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { modelsLayer } from "./Models.ts"
import { column, writePdf } from "./PdfWriter.ts"
import { testFolder } from "./TestFolder.ts"

const pathsOf = (library: typeof Library.Service) =>
  Effect.map(library.documents, (documents) => documents.map(({ path }) => path))

const reasons = (
  failed: ReadonlyArray<{ readonly path: string; readonly error: { readonly reason: string } }>
) => failed.map(({ error, path }) => `${path} ${error.reason}`).toSorted()

const NAMES = [
  "it's.md",
  'a "quoted" one.md',
  "new\nline.md",
  "🙂 and 名前.md",
  "back\\slash.md",
  "'); DROP TABLE files; --.md",
  "%27 _ *.md",
  " leading and trailing .md",
  "e\u0301.md",
  "\u00e9.md",
  "…/'nested'/ü.md"
]

describe("a folder", () => {
  it.effect("keeps every file name", () =>
    Effect.gen(function* () {
      const { docs, library: at, remove, write } = yield* testFolder
      for (const [i, name] of NAMES.entries()) yield* write(`docs/${name}`, `# Number ${i}\n\nNote ${i}.\n`)
      const library = yield* Library.open(at)
      assert.deepStrictEqual((yield* library.ingest(docs)).failed, [])
      assert.deepStrictEqual((yield* pathsOf(library)).toSorted(), NAMES.toSorted())
      for (const { id, path } of yield* library.documents) {
        const { bytes } = yield* library.file(id)
        assert.include(new TextDecoder().decode(bytes), `Note ${NAMES.indexOf(path)}.`)
      }
      assert.strictEqual((yield* library.ingest(docs)).unchanged, NAMES.length)
      assert.strictEqual((yield* library.plan(docs)).unchanged, NAMES.length)
      yield* remove(`docs/${NAMES[0]}`)
      yield* remove(`docs/${NAMES[5]}`)
      assert.strictEqual((yield* library.ingest(docs)).removed, 2)
      assert.strictEqual((yield* library.stats).passages, NAMES.length - 2)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("reports invalid sources and uploads", () =>
    Effect.gen(function* () {
      const library = yield* Library.open((yield* testFolder).library)
      for (const none of ["", "a\0b", undefined, {}, { folder: "" }, { files: 7 }]) {
        const error = yield* Effect.flip(library.ingest(none as string))
        assert.strictEqual(error.reason, "Malformed", JSON.stringify(none))
        if (typeof none === "string")
          assert.strictEqual((yield* Effect.flip(library.plan(none))).reason, "Malformed")
      }
      const priceless = yield* Effect.flip(library.plan(".", { per1000Tokens: Number.NaN }))
      assert.strictEqual(priceless.reason, "Malformed")
      for (const none of [null, { folder: "." }])
        assert.match((yield* Effect.flip(library.apply(none as never))).message, /Not a plan/)
      const bytes = new TextEncoder().encode("# Weir\n\nThe weir is open.\n")
      const listed = function* () {
        yield { path: "a.md", bytes }
        throw new Error("lost")
      }
      assert.match(
        (yield* Effect.flip(library.ingest({ files: listed() }))).message,
        /could not be listed.*lost/
      )
      const paths = ["..", "../x.md", "/c.md", "a\\c.md", "a//c.md", "./c.md", "a/../c.md", "a/"]
      const files = [null, { path: 7, bytes }, { path: "b.md", bytes: "text" }] as never[]
      const { added, failed } = yield* library.ingest({
        files: [...files, ...paths.map((path) => ({ path, bytes })), { path: "a/.../c.md", bytes }]
      })
      assert.strictEqual(added, 1)
      assert.deepStrictEqual(
        reasons(failed),
        ["", "", "b.md", ...paths].map((path) => `${path} Malformed`).toSorted()
      )
      assert.match(
        failed.at(-1)?.error.message ?? "",
        /"a\/" is not a valid path\. Use a relative path with "\/"/
      )
      assert.deepStrictEqual(yield* pathsOf(library), ["a/.../c.md"])
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("is read without hidden files and those of systems and open documents", () =>
    Effect.gen(function* () {
      const { docs, library: at, write } = yield* testFolder
      for (const name of [".notes.md", "~$plan.docx", "desktop.ini", ".git/a.md", "a/~$x.md", "~x.md"])
        yield* write(`docs/${name}`, "It opens at six.")
      const library = yield* Library.open(at)
      assert.deepStrictEqual((yield* library.ingest(docs)).failed, [])
      assert.deepStrictEqual(yield* pathsOf(library), ["~x.md"])
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("reports a file name that is not UTF-8", () =>
    Effect.gen(function* () {
      const { docs, library: at, write } = yield* testFolder
      yield* write("docs/good.md", "# Good\n\nA good name.\n")
      writeFileSync(Buffer.from(`${docs}/b\xe4d.md`, "latin1"), "# Bad\n\nA bad name.\n")
      const library = yield* Library.open(at)
      const report = yield* library.ingest(docs)
      assert.deepStrictEqual([report.added, ...reasons(report.failed)], [1, "b\uFFFDd.md Malformed"])
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("is read once if links are circular, lead upwards, or are broken", () =>
    Effect.gen(function* () {
      const { docs, folder, library: at, write } = yield* testFolder
      yield* write("docs/a/one.md", "# One\n\nThe first one.\n")
      yield* write("docs/two.md", "# Two\n\nThe second one.\n")
      yield* write("outside/three.md", "# Three\n\nThe third one.\n")
      yield* write("secret.md", "# Secret\n\nNobody asked for this.\n")
      symlinkSync("self", join(docs, "self"))
      symlinkSync("pong", join(docs, "ping"))
      symlinkSync("ping", join(docs, "pong"))
      symlinkSync("gone.md", join(docs, "dangling.md"))
      symlinkSync(docs, join(docs, "a/round"))
      symlinkSync("..", join(docs, "a/up"))
      symlinkSync(folder, join(docs, "a/parent"))
      symlinkSync("/", join(docs, "a/everything"))
      symlinkSync("../outside", join(docs, "linked"))
      symlinkSync("../outside", join(docs, "linked-again"))
      symlinkSync("two.md", join(docs, "z-two-again.md"))
      const library = yield* Library.open(at)
      const report = yield* library.ingest(docs)
      assert.deepStrictEqual(yield* pathsOf(library), [
        "a/one.md",
        "linked/three.md",
        "two.md",
        "z-two-again.md"
      ])
      assert.deepStrictEqual(reasons(report.failed), [
        "dangling.md NotFound",
        "ping Malformed",
        "pong Malformed",
        "self Malformed"
      ])
      // A link whose target was deleted removes its document only.
      yield* Effect.sync(() => rmSync(join(docs, "two.md")))
      assert.strictEqual((yield* library.ingest(docs)).removed, 2)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("has documents of its own if other folders have the same name or contain it", () =>
    Effect.gen(function* () {
      const { folder, library: at, write } = yield* testFolder
      for (const name of ["x", "y", "z"])
        yield* write(`${name}/docs/a.md`, `# Of ${name}\n\nIt is of ${name}.\n`)
      yield* write("z/docs/docs/a.md", "# Nested\n\nIt lies below.\n")
      const library = yield* Library.open(at)
      for (const expected of ["added", "unchanged"] as const)
        for (const name of ["x", "y", "z"]) {
          const docs = join(folder, name, "docs")
          assert.strictEqual((yield* library.plan(docs))[expected], name === "z" ? 2 : 1)
          const report = yield* library.ingest(docs)
          assert.deepStrictEqual(
            [report[expected], report.replaced, report.removed],
            [name === "z" ? 2 : 1, 0, 0]
          )
        }
      const titles = (yield* library.documents).map(({ path, title }) => [path, title])
      assert.deepStrictEqual(titles, [
        ["a.md", "Of x"],
        ["docs/a.md", "Of y"],
        ["docs/docs/a.md", "Nested"],
        ["z/docs/a.md", "Of z"]
      ])
      rmSync(join(folder, "z/docs/a.md"))
      assert.strictEqual((yield* library.ingest(join(folder, "z/docs"))).removed, 1)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("is the same folder by any link", () =>
    Effect.gen(function* () {
      const { docs, folder, library: at, write } = yield* testFolder
      yield* write("docs/a.md", "# A\n\nBoats wait.\n")
      yield* write("docs/b.md", "# B\n\nGates open.\n")
      const link = join(folder, "link")
      symlinkSync(docs, link)
      const library = yield* Library.open(at)
      assert.strictEqual((yield* library.ingest(docs)).added, 2)
      assert.deepStrictEqual((yield* library.plan(link)).changes, [])
      assert.strictEqual((yield* library.ingest(link)).unchanged, 2)
      rmSync(join(docs, "a.md"))
      assert.strictEqual((yield* library.ingest(link)).removed, 1)
      assert.strictEqual((yield* library.ingest(docs)).unchanged, 1)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("is read without the libraries inside it", () =>
    Effect.gen(function* () {
      const { docs, write } = yield* testFolder
      yield* write("docs/a.md", "# A\n\nBoats wait two hours.\n")
      yield* write("docs/notes.lance/b.md", "# B\n\nA folder of notes by such a name.\n")
      // The library lies beside the documents, below them, or behind a link.
      yield* Library.open(docs)
      const library = yield* Library.open(join(docs, "kept here"))
      symlinkSync("kept here", join(docs, "a link"))
      const first = yield* library.ingest(docs)
      assert.deepStrictEqual([first.added, ...first.failed], [2])
      assert.deepStrictEqual(yield* pathsOf(library), ["a.md", "notes.lance/b.md"])
      const { failed, removed, replaced, unchanged } = yield* library.ingest(docs)
      assert.deepStrictEqual([unchanged, replaced, removed, ...failed], [2, 0, 0])
      assert.deepStrictEqual((yield* library.plan(docs)).changes, [])
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("may change while it is read, and the next ingest completes it", () =>
    Effect.gen(function* () {
      const { docs, library: at, write } = yield* testFolder
      for (let i = 10; i < 30; i++) yield* write(`docs/${i}.md`, `# Number ${i}\n\nNote ${i}.\n`)
      yield* write("docs/26/below.md", "# Below\n\nIt stands below.\n")
      const library = yield* Library.open(at)
      // The first file is read after the folder was listed, and before the other files are read.
      const report = yield* library.ingest({
        folder: docs,
        metadata: (path) => {
          if (path !== "10.md") return undefined
          rmSync(join(docs, "25.md"))
          rmSync(join(docs, "26"), { recursive: true })
          writeFileSync(join(docs, "26"), "a file where a folder was")
          appendFileSync(join(docs, "27.md"), "\nIt has grown.\n")
          truncateSync(join(docs, "28.md"), MAX_FILE_BYTES + 1)
          rmSync(join(docs, "29.md"))
          mkdirSync(join(docs, "29.md"))
          writeFileSync(join(docs, "30.md"), "# Late\n\nIt came late.\n")
          return { first: true }
        }
      })
      assert.deepStrictEqual(reasons(report.failed), ["28.md TooLarge"])
      assert.strictEqual(report.added, 17)
      const grown = (yield* library.documents).find(({ path }) => path === "27.md")
      const { bytes } = yield* library.file(grown?.id ?? "")
      assert.include(new TextDecoder().decode(bytes), "It has grown.")
      rmSync(join(docs, "28.md"))
      const next = yield* library.ingest(docs)
      assert.deepStrictEqual([next.unchanged, next.added, next.removed], [17, 1, 0])
      assert.deepStrictEqual(reasons(next.failed), ["26 UnsupportedFormat"])
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  for (const passages of [0, 1, 19, 20])
    it.effect(`with ${passages} passages returns all of them`, () =>
      Effect.gen(function* () {
        const { docs, library: at, write } = yield* testFolder
        yield* write("docs/.keep", "")
        for (let i = 0; i < passages; i++)
          yield* write(`docs/${i}.md`, `# Boiler ${i}\n\nBoiler ${i} hangs on a wall.\n`)
        const library = yield* Library.open(at)
        yield* library.ingest(docs)
        assert.strictEqual((yield* library.stats).passages, passages)
        const { kept, trace } = yield* library.retrieve("Where does the boiler hang?")
        assert.deepStrictEqual([trace.passages.length, kept.length], [passages, Math.min(3, passages)])
        const { found } = yield* library.ask("Who sold the bridge of Brooklyn to the miller?")
        assert.isFalse(found)
      }).pipe(Effect.provide(modelsLayer), Effect.scoped)
    )

  it.live("keeps both places of a text on two pages", () =>
    Effect.gen(function* () {
      const { docs, library: at, write } = yield* testFolder
      const page = { marks: column(50, 700, ["The lift is out of order.", "It is mended on Monday."]) }
      yield* write("docs/notice.pdf", writePdf([page, page]))
      const library = yield* Library.open(at)
      assert.deepStrictEqual((yield* library.ingest(docs)).failed, [])
      const { trace } = yield* library.retrieve("When is the lift mended?")
      assert.deepStrictEqual(trace.passages.map(({ passage }) => passage.page).toSorted(), [1, 2])
      const places = new Set(trace.passages.map(({ passage }) => passage.start))
      assert.strictEqual(places.size, 2)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )
})
