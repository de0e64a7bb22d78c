/**
 * A followed folder: what a rescan of many files reads and embeds, and how soon a save is answerable, also while a scan is read.
 * `RESCAN_FILES=100000` and `WATCHED_FILES=10000` are the sizes that must hold.
 */
import { Library } from "@sluice/rag"
import { documentFormats } from "@sluice/rag/formats"
import { assert, it } from "@effect/vitest"
import { Effect, Schedule, Schema, Stream } from "effect"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Job } from "../../apps/demo-server/src/contract/Documents.ts"
import { AnswerBody, SourceList } from "../../apps/demo-server/src/contract/index.ts"
import { publicAddressPolicy } from "../../apps/demo-server/src/network/PublicFile.ts"
import { sourceKind } from "../../apps/demo-server/src/sources/kinds/SourceKinds.ts"
import { startServer } from "../demo-server/TestServer.ts"
import { writePdf } from "../rag/PdfWriter.ts"
import { countingEmbedder } from "../rag/Models.ts"
import { testFolder } from "../rag/TestFolder.ts"

const RESCANNED = Number(process.env["RESCAN_FILES"] ?? 2_000)
const WATCHED = Number(process.env["WATCHED_FILES"] ?? 500)
/** Files of a folder. */
const FOLDER = 500
/** For a rescan of 100,000 files. */
const LIMIT = 20 * 60_000

const writeFiles = (root: string, count: number) =>
  Effect.promise(async () => {
    for (let start = 0; start < count; start += FOLDER) {
      const folder = join(root, String(start / FOLDER))
      await mkdir(folder, { recursive: true })
      const numbers = Array.from({ length: Math.min(FOLDER, count - start) }, (_, n) => start + n)
      await Promise.all(
        numbers.map((n) => writeFile(join(folder, `${n}.txt`), `The toll of berth ${n} is ${n + 3} crowns.`))
      )
    }
  })

const seconds = (since: number) => ((performance.now() - since) / 1000).toFixed(1)

it.live(
  `a rescan of ${RESCANNED} files reads no file and embeds nothing`,
  () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* testFolder
      yield* writeFiles(docs, RESCANNED)
      const { count, layer } = yield* countingEmbedder()
      const library = yield* Library.open(at).pipe(Effect.provide(layer))
      const access = { policy: publicAddressPolicy, folders: undefined, formats: documentFormats }
      let reads = 0
      const sync = Effect.scoped(
        Effect.flatMap(sourceKind(docs)!.open({ name: "many", address: docs }, access), ({ items }) =>
          library.sync(
            "many",
            Stream.map(items, (item) =>
              "bytes" in item && Effect.isEffect(item.bytes)
                ? { ...item, bytes: Effect.tap(item.bytes, () => Effect.sync(() => reads++)) }
                : item
            )
          )
        )
      )
      const began = performance.now()
      assert.strictEqual((yield* sync).added, RESCANNED)
      const first = seconds(began)
      const [embedded, readBefore] = [yield* count, reads]
      const again = performance.now()
      assert.strictEqual((yield* sync).unchanged, RESCANNED)
      assert.deepStrictEqual([yield* count, reads], [embedded, readBefore])
      console.info(`${RESCANNED} files: first sync ${first} s, rescan ${seconds(again)} s`)
    }).pipe(Effect.scoped),
  LIMIT
)

it.live(
  `a save in a followed folder of ${WATCHED} files is answerable, and read alone`,
  () =>
    Effect.gen(function* () {
      const { docs, write } = yield* testFolder
      yield* writeFiles(docs, WATCHED)
      const { call, json } = yield* startServer({ env: { SLUICE_SOURCE_FOLDERS: docs } })
      const source = Effect.map(json(SourceList, "/sources"), ({ sources: [one] }) => one!)
      const added = performance.now()
      yield* call("/sources", { json: { address: docs, name: "many", schedule: { every: 1_440 } } })
      yield* source.pipe(
        Effect.repeat({ schedule: Schedule.spaced("200 millis"), until: ({ state }) => state === "done" })
      )
      const first = seconds(added)
      const Total = Schema.Struct({ total: Schema.Int })
      const count = (query: string) =>
        Effect.map(json(Total, `/documents?limit=1&${query}`), ({ total }) => total)
      // The watcher is ready once it tells of a file that is written until then.
      yield* Effect.andThen(write("docs/0/ready.txt", "The bell rings at dusk."), count("text=ready")).pipe(
        Effect.repeat({ schedule: Schedule.spaced("1 second"), until: (found) => found === 1 })
      )
      const answer = Effect.map(
        json(AnswerBody, "/qa", { json: { question: "What is the toll of the marble berth?" } }),
        ({ answer }) => answer
      )
      const before = performance.now()
      yield* answer
      const asking = performance.now() - before
      const saved = performance.now()
      yield* write("docs/0/marble.txt", "The toll of the marble berth is ninety crowns.")
      yield* answer.pipe(
        Effect.repeat({ schedule: Schedule.spaced("50 millis"), until: (text) => text.includes("ninety") })
      )
      console.info(
        `${WATCHED} files: first sync ${first} s, a save is answered after ${seconds(saved)} s, with questions of ${(asking / 1000).toFixed(2)} s`
      )
      const marble = { path: "many/0/marble.txt", status: "added" }
      yield* source.pipe(
        Effect.repeat({
          schedule: Schedule.spaced("50 millis"),
          until: ({ changes }) => JSON.stringify(changes) === JSON.stringify([marble])
        })
      )
      assert.strictEqual(yield* count("text="), WATCHED + 2)
    }).pipe(Effect.scoped),
  LIMIT
)

/** More pages than are read while the test runs. */
const SCANNED = 1_000
const scan = writePdf(
  Array.from({ length: SCANNED }, (_, n) => ({
    marks: [],
    draw: `q 595 0 0 842 0 0 cm /I Do Q 0 g 50 ${n % 700} ${20 + n} 99 re f`
  }))
)

it.live(
  "saves and removals in a followed folder count while scans of it are read: by a run, and as changes",
  () =>
    Effect.gen(function* () {
      const { docs, remove, write } = yield* testFolder
      yield* write("docs/a.pdf", scan)
      yield* write("docs/quay.txt", "The toll of the quay is four crowns.")
      const { call, json } = yield* startServer({ env: { SLUICE_SOURCE_FOLDERS: docs } })
      yield* call("/sources", { json: { address: docs, name: "x", schedule: { every: 1_440 } } })
      const Jobs = Schema.Struct({ jobs: Schema.Array(Job) })
      /** Waits until so many jobs read scans. */
      const reading = (count: number) =>
        json(Jobs, "/jobs").pipe(
          Effect.repeat({
            schedule: Schedule.spaced("50 millis"),
            until: ({ jobs }) => jobs.filter((job) => job.reading !== undefined).length === count
          })
        )
      const has = (name: string) =>
        Effect.map(
          json(Schema.Struct({ total: Schema.Int }), `/documents?limit=1&text=${name}`),
          ({ total }) => total === 1
        )
      const until = (name: string, isThere: boolean) =>
        has(name).pipe(
          Effect.repeat({ schedule: Schedule.spaced("50 millis"), until: (now) => now === isThere })
        )
      const saves = Effect.fnUntraced(function* (name: string) {
        const began = performance.now()
        yield* write(`docs/${name}.txt`, "The toll of the berth is ninety crowns.")
        yield* until(name, true)
        console.info(`a save is there after ${seconds(began)} s`)
        yield* remove(`docs/${name}.txt`)
        yield* until(name, false)
      })
      yield* reading(1)
      // The watcher is ready once it tells of a file that is written until then.
      yield* Effect.andThen(write("docs/ready.txt", "It is ready."), has("ready")).pipe(
        Effect.repeat({ schedule: Schedule.spaced("1 second"), until: (found) => found })
      )
      yield* saves("berth")
      yield* write("docs/b.pdf", scan)
      yield* reading(2)
      yield* saves("jetty")
      const { jobs } = yield* reading(2)
      assert.lengthOf(
        jobs.filter(({ reading, status }) => reading !== undefined && status === "running"),
        2
      )
    }).pipe(Effect.scoped),
  LIMIT
)
