/** An ingest in another process that is killed, lacks permissions, or fills the disk. */
import { assert, describe, it } from "@effect/vitest"
import { Library } from "@sluice/rag"
import { Effect, Stream } from "effect"
import { spawn } from "node:child_process"
import { chmod, readdir } from "node:fs/promises"
import { join } from "node:path"
import { countingEmbedder, modelsLayer } from "../rag/Models.ts"
import { handbook, testFolder } from "../rag/TestFolder.ts"

const CHILD = new URL("../rag/IngestChild.ts", import.meta.url).pathname

/** Runs an ingest in another process. Returns its lines; the last is the signal that ended it. */
const child = (
  args: ReadonlyArray<string>,
  options: {
    readonly unprivileged?: boolean
    readonly killed?: boolean
    /** The maximum size of a file in KiB. Exceeding it fails as a full disk does. */
    readonly fileSizeLimit?: number
  }
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(
    () =>
      new Promise((resolve, reject) => {
        const lines: Array<string> = []
        const command = [
          process.execPath,
          "--conditions=@sluice/source",
          CHILD,
          ...args,
          ...(options.unprivileged === true ? ["drop"] : []),
          ...(options.killed === true ? ["kill"] : [])
        ]
        const limit = options.fileSizeLimit
        const script = `${limit === undefined ? "" : `trap '' XFSZ; ulimit -f ${limit};`} exec "$@"`
        const started = spawn("bash", ["-c", script, "bash", ...command], {
          stdio: ["ignore", "pipe", "inherit"]
        })
        started.stdout.setEncoding("utf8").on("data", (text: string) => {
          lines.push(...text.trim().split("\n"))
        })
        started.on("error", reject)
        started.on("close", (_, signal) => resolve(signal === null ? lines : [...lines, signal]))
      })
  )

const DOCUMENTS = 150

/** Documents of 30 passages or more. */
const longDocuments = Effect.gen(function* () {
  const test = yield* testFolder
  for (let i = 0; i < DOCUMENTS; i++) {
    const sections = Array.from(
      { length: 30 },
      (_, s) => `## Section ${s} of ${i}\n\n${`Sentence about item ${i} in section ${s}. `.repeat(20)}\n`
    )
    yield* test.write(`docs/document${i}.md`, `# Document ${i}\n\n${sections.join("\n")}`)
  }
  return test
})

/** The share of the documents after which a rebuild is killed, and the share that the next one may embed at most. */
const KILLED_AT = 0.6
const LEFT = 0.5

describe("a rebuild in another process", () => {
  it.live("that is killed at 60 % is continued: only the rest is embedded", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* longDocuments
      const ingested = yield* Effect.flatMap(Library.open(at), (library) =>
        Effect.andThen(library.ingest(docs), library.stats)
      ).pipe(Effect.scoped)
      assert.deepStrictEqual(yield* child(["rebuild", `${KILLED_AT * DOCUMENTS}`, at], {}), ["SIGKILL"])
      const embedder = yield* countingEmbedder()
      const library = yield* Library.open(at).pipe(Effect.provide(embedder.layer))
      const events = yield* Stream.runCollect(library.rebuild)
      const { report } = events.find((event) => event.type === "done")!
      assert.isAtLeast(report.unchanged, KILLED_AT * DOCUMENTS)
      assert.strictEqual(report.unchanged + report.added, DOCUMENTS)
      const embedded = yield* embedder.count
      assert.isTrue(
        embedded > 0 && embedded <= LEFT * ingested.passages,
        `${embedded} of ${ingested.passages}`
      )
      const { documents, passages } = yield* library.stats
      assert.deepStrictEqual([documents, passages], [DOCUMENTS, ingested.passages])
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )
})

describe("an ingest in another process", () => {
  it.live("leaves complete documents when it is killed, and can be continued", () =>
    Effect.gen(function* () {
      const { docs, folder, library: at } = yield* longDocuments
      for (let killed = 0; killed < 2; killed++) {
        assert.deepStrictEqual(yield* child(["ingest", docs, at], { killed: true }), ["SIGKILL"])
      }
      const library = yield* Library.open(at)
      const survived = yield* library.documents
      assert.isTrue(survived.length > 0 && survived.length < DOCUMENTS, `${survived.length} survived`)
      const promised = survived.reduce((sum, { passages }) => sum + passages, 0)
      assert.strictEqual((yield* library.stats).passages, promised)
      const report = yield* library.ingest(docs)
      assert.deepStrictEqual([report.unchanged, report.added], [survived.length, DOCUMENTS - survived.length])
      const fresh = yield* Library.open(join(folder, "fresh"))
      yield* fresh.ingest(docs)
      assert.strictEqual((yield* library.stats).passages, (yield* fresh.stats).passages)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.live("reports files without read permission, and ingests the others", () =>
    Effect.gen(function* () {
      const { docs, folder, library: at } = yield* handbook
      yield* Effect.promise(async () => {
        await chmod(join(docs, "refunds.md"), 0)
        await chmod(join(docs, "sub"), 0)
        for (const open of [folder, docs]) await chmod(open, 0o777)
      })
      const output = yield* child(["ingest", docs, at], { unprivileged: true })
      const report = JSON.parse(output.at(-1) ?? "") as {
        readonly added: number
        readonly failed: ReadonlyArray<{ readonly path: string; readonly reason: string }>
      }
      assert.strictEqual(report.added, 1)
      assert.deepStrictEqual(report.failed.map(({ path, reason }) => `${path} ${reason}`).toSorted(), [
        "refunds.md PermissionDenied",
        "sub PermissionDenied"
      ])
      yield* Effect.promise(() => chmod(at, 0o555))
      const refused = yield* child(["ingest", docs, join(at, "new")], { unprivileged: true })
      assert.include(refused.at(-1) ?? "", "PermissionDenied")
      assert.notInclude(yield* Effect.promise(() => readdir(at)), "new")
      yield* Effect.promise(() => Promise.all([at, join(docs, "sub")].map((path) => chmod(path, 0o777))))
    }).pipe(Effect.scoped)
  )

  it.live("reports a full disk, and loses no stored document", () =>
    Effect.gen(function* () {
      const { docs, library: at, write } = yield* handbook
      yield* child(["ingest", docs, at], {})
      const long = Array.from({ length: 4000 }, (_, i) => `Sentence ${i} about matter ${i * 7919}.`).join(
        "\n\n"
      )
      yield* write("docs/long.md", `# Long\n\n${long}`)
      const output = yield* child(["ingest", docs, at], { fileSizeLimit: 16 })
      assert.include(output.at(-1) ?? "", "NoSpace")
      const library = yield* Library.open(at)
      assert.strictEqual((yield* library.documents).length, 3)
      assert.isTrue((yield* library.ask("Who holds the key to the boiler room?")).found)
      assert.strictEqual((yield* library.ingest(docs)).added, 1)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )
})
