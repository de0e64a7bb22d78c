/**
 * A followed folder of many files: what a rescan reads and embeds, and how soon a save is answerable. `RESCAN_FILES=100000` and
 * `WATCHED_FILES=10000` are the sizes that must hold.
 */
import { Library } from "@sluice/rag"
import { documentFormats } from "@sluice/rag/formats"
import { assert, it } from "@effect/vitest"
import { Effect, Schedule, Schema, Stream } from "effect"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { AnswerBody, SourceList } from "../../apps/demo-server/src/contract/index.ts"
import { publicAddressPolicy } from "../../apps/demo-server/src/network/PublicFile.ts"
import { sourceKind } from "../../apps/demo-server/src/sources/kinds/SourceKinds.ts"
import { startServer } from "../demo-server/TestServer.ts"
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
