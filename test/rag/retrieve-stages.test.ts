/** A stage that a program registers: its options, its trace, and its explanation by `why`. */
import { assert, describe, it } from "@effect/vitest"
import { Library } from "@sluice/rag"
import {
  type RetrievalStage,
  RetrievalStages,
  retrieveOptionsSchema,
  stageOption,
  STAGES
} from "@sluice/rag/retrieval"
import { Effect, Schema } from "effect"
import { modelsLayer } from "./Models.ts"
import { pathsOf } from "./SmallLibrary.ts"
import { testFolder } from "./TestFolder.ts"

declare module "@sluice/rag" {
  interface RetrieveOptions {
    /** Passages of this folder come first. */
    readonly prefer?: string
  }
}

/** Moves the passages of a folder to the front, after reranking. */
const preferStage: RetrievalStage = {
  name: "prefer",
  options: { prefer: stageOption(Schema.NonEmptyString, "a folder") },
  run: ({ candidates, options: { prefer } }) =>
    Effect.sync(() => {
      if (prefer === undefined) return undefined
      const isPreferred = (path: string) => (path.startsWith(prefer) ? 0 : 1)
      return {
        candidates: candidates
          .toSorted(
            (a, b) => isPreferred(a.hit.passage.document.path) - isPreferred(b.hit.passage.document.path)
          )
          .map((one, i) => ({ ...one, places: { prefer: { rank: i + 1 } } }))
      }
    }),
  explain: ({ candidates, options: { prefer } }, { passage }) => {
    const at = candidates.findIndex(({ hit }) => hit.passage.id === passage.id)
    if (prefer === undefined || at < 0) return {}
    return { places: { prefer: { rank: at + 1 } } }
  }
}

const afterRerank = STAGES.findIndex(({ name }) => name === "rerank") + 1
const stages = STAGES.toSpliced(afterRerank, 0, preferStage)

const FILES = {
  "old/gates.md": "# Gates\n\nThe lower gate of the lock opens at seven in the morning.\n",
  "new/fees.md": "# Fees\n\nA boat pays a fee of nine crowns at the gate of each lock.\n",
  "new/weirs.md": "# Weirs\n\nThe weir holds the water of the upper pond back in summer.\n"
}
const QUESTION = "When does the lower gate open?"

const openLibrary = Effect.gen(function* () {
  const { library: at } = yield* testFolder
  const opened = yield* Library.open(at)
  const encoder = new TextEncoder()
  yield* opened.ingest({
    files: Object.entries(FILES).map(([path, text]) => ({ path, bytes: encoder.encode(text) }))
  })
  return opened
}).pipe(Effect.provideService(RetrievalStages, stages))

describe("a registered stage", () => {
  it.effect("changes the result by its option", () =>
    Effect.gen(function* () {
      const library = yield* openLibrary
      const [usual] = pathsOf(yield* library.retrieve(QUESTION, { keep: 1 }))
      const [preferred] = pathsOf(yield* library.retrieve(QUESTION, { keep: 1, prefer: "new/" }))
      assert.strictEqual(usual, "old/gates.md")
      assert.match(preferred ?? "", /^new\//)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("has its option checked and listed", () =>
    Effect.gen(function* () {
      const library = yield* openLibrary
      const wrong = yield* Effect.flip(library.retrieve(QUESTION, { prefer: "" }))
      assert.match(wrong.message, /^prefer is ""; expected a folder\./)
      const unknown = yield* Effect.flip(library.retrieve(QUESTION, JSON.parse('{"prefers":"new/"}')))
      assert.match(unknown.message, /^"prefers" is not an option\. Options: .*\bprefer\b/)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("is in the trace, with its places, when it ran", () =>
    Effect.gen(function* () {
      const library = yield* openLibrary
      const { trace } = yield* library.retrieve(QUESTION, { prefer: "new/" })
      assert.include(
        trace.stages.map(({ stage }) => stage),
        "prefer"
      )
      const ranks = trace.passages.map(({ passage, places }) => [
        passage.document.path,
        places?.["prefer"]?.rank
      ])
      assert.strictEqual(new Map(ranks as Array<[string, number]>).get("old/gates.md"), trace.passages.length)
      const idle = yield* library.retrieve(QUESTION)
      assert.notInclude(
        idle.trace.stages.map(({ stage }) => stage),
        "prefer"
      )
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("is explained by why", () =>
    Effect.gen(function* () {
      const library = yield* openLibrary
      const gates = (yield* library.documents).find(({ path }) => path === "old/gates.md")
      const why = yield* library.why(gates?.id ?? "", QUESTION, { keep: 1, prefer: "new/" })
      const [best] = why.passages
      assert.strictEqual(best?.places["prefer"]?.rank, 3)
      assert.strictEqual(best?.outcome, "not kept")
      assert.match(why.sentence, /rerank 1 .*, prefer 3\./)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it("has its option decoded from JSON", () => {
    const decode = Schema.decodeUnknownSync(retrieveOptionsSchema(stages))
    assert.deepStrictEqual(decode({ keep: 1, prefer: "new/" }), { keep: 1, prefer: "new/" })
    assert.throws(() => decode({ prefer: 1 }))
  })
})
