import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { collectionIn } from "../rag/StoredDocuments.ts"
import { testFolder } from "../rag/TestFolder.ts"

const CHILD = new URL("../rag/StoreChild.ts", import.meta.url).pathname
const WRITERS = ["anna", "bo", "chen", "dora"]
const ROUNDS = 6

/** The exit code and standard error. */
const child = (...args: ReadonlyArray<string>) =>
  Effect.promise(
    () =>
      new Promise<readonly [code: number | null, said: string]>((resolve, reject) => {
        const started = spawn(process.execPath, ["--conditions=@sluice/source", CHILD, ...args])
        let said = ""
        started.stderr.on("data", (data: Buffer) => (said += data.toString()))
        started.on("error", reject)
        started.on("close", (code) => resolve([code, said]))
      })
  )

describe("four processes that create and write one folder", () => {
  it.live(
    "lose nothing and duplicate nothing",
    () =>
      Effect.gen(function* () {
        const { library } = yield* testFolder
        const ended = yield* Effect.all(
          WRITERS.map((name) => child(library, name, String(ROUNDS))),
          { concurrency: "unbounded" }
        )
        for (const [code, said] of ended) assert.strictEqual(code, 0, said)
        const collection = yield* collectionIn(library)
        const inventory = yield* collection.inventory
        assert.isTrue(inventory.every(({ isComplete }) => isComplete))
        const own = WRITERS.flatMap((name) => Array.from({ length: ROUNDS }, (_, i) => `${name} ${i}`))
        assert.deepStrictEqual(
          inventory.map(({ info }) => info.path).toSorted(),
          [...own, "everybody's"].toSorted()
        )
        assert.strictEqual((yield* collection.stats).passages, 2 * own.length + 2)
        for (const { info } of inventory) {
          const texts = (yield* collection.passages(info.id)).map(({ text }) => text)
          if (info.path === "everybody's") assert.match(texts.join(), /^by \w+,in round \d$/)
          else
            assert.deepStrictEqual(
              texts,
              ["first", "second"].map((which) => info.path.replace(" ", ` ${which} `))
            )
          assert.strictEqual(
            (yield* collection.original(info.sha256))?.toString(),
            new TextDecoder().decode(Buffer.from(texts.join("\n")))
          )
        }
      }).pipe(Effect.scoped),
    120_000
  )
})
