/** Summaries of documents: by a chat model in groups, and by sentences of the documents. */
import { assert, describe, it } from "@effect/vitest"
import { Reader } from "@sluice/core"
import { notRead, type ReaderPart, type ReaderPassage } from "@sluice/core/models"
import * as Embedded from "@sluice/embedded"
import { Filter, type RagError } from "@sluice/rag"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer, Predicate, Stream } from "effect"
import { Worker } from "node:worker_threads"
import { vi } from "vitest"
import type { Collection } from "../../packages/rag/src/store/PassageIndex.ts"
import { selectSummaryPassages } from "../../packages/rag/src/summary/SummaryPassages.ts"
import { library } from "./SmallLibrary.ts"

const Models = Layer.mergeAll(Embedded.layer, NodeServices.layer)

const CANAL = `# The canal

## Locks

The canal has nine locks between the harbour and the lake. Each lock of the canal lifts a boat by three metres.
The keepers of the canal open each lock from April to October.

## Kitchen

The kitchen of the keeper's house was painted green in the summer of the great flood.

| Lock | Height |
| --- | --- |
| Upper lock of the canal | 3 m |

## Boats

Boats on the canal wait at the lower lock until the keeper of the lock opens it. Boats pay a fee at each lock of the canal.
`
const FILES = {
  "canal.md": CANAL,
  "bees.md": "# Bees\n\nThe bees of the monastery made forty jars of honey in a good year."
}

/** Quotes the first line of each passage, but what `behave` says, and keeps what it is asked. */
const quoting = (
  asked: Array<ReadonlyArray<ReaderPassage>>,
  window: number,
  behave?: (nth: number) => ReadonlyArray<ReaderPart> | undefined
) =>
  Layer.succeed(
    Reader,
    Reader.of({
      model: { id: "scripted", kind: "generative", window },
      read: (_, passages) => {
        asked.push(passages)
        return Stream.fromIterable<ReaderPart>(
          behave?.(asked.length) ?? [
            ...passages.map(({ text }, passage) => ({
              text: `Point ${passage + 1} of call ${asked.length}.`,
              evidence: [{ passage, quote: text.split("\n").findLast((line) => line.length > 20) ?? text }]
            })),
            { type: "end", calls: 1, tokens: 10 }
          ]
        )
      }
    })
  )

describe("a summary", () => {
  it.effect("without a model has the central sentences of the documents, verbatim, in their order", () =>
    Effect.gen(function* () {
      const opened = yield* library(FILES)
      const summary = yield* opened.summarise({ sentences: 3, filter: Filter.equals("path", "canal.md") })
      assert.deepStrictEqual(
        [summary.plan.method, summary.plan.calls, summary.plan.documents, summary.tokens],
        ["extractive", 0, 1, 0]
      )
      assert.strictEqual(summary.sentences.length, 3)
      for (const { citations, text } of summary.sentences) {
        assert.match(text, /lock/)
        const quote = summary.citations.find(({ n }) => n === citations[0])
        assert.strictEqual(CANAL.slice(quote?.start, quote?.end).replace(/\s+/g, " "), text)
      }
      const starts = summary.citations.map(({ start }) => start)
      assert.deepStrictEqual(
        starts,
        starts.toSorted((a, b) => a - b)
      )
      assert.notInclude(summary.text, "kitchen")
      assert.match(summary.text, /\[1\].*\[2\].*\[3\]/)
    }).pipe(Effect.scoped, Effect.provide(Models))
  )

  it.effect("without a model says nothing twice", () =>
    Effect.gen(function* () {
      const same = "The lock of the canal is opened by the keeper of the lock at nine."
      const opened = yield* library({
        "a.md": `# A\n\n${same}`,
        "b.md": `# B\n\n${same}\n\nThe fee for the lock is paid at the toll house of the canal.`
      })
      const { text } = yield* opened.summarise({ sentences: 2 })
      assert.include(text, "toll house")
    }).pipe(Effect.scoped, Effect.provide(Models))
  )

  it.effect("of a model reads groups, then their quotes, in as many calls as planned", () => {
    const asked: Array<ReadonlyArray<ReaderPassage>> = []
    return Effect.gen(function* () {
      const opened = yield* library(FILES)
      const plan = yield* opened.planSummary()
      assert.strictEqual(asked.length, 0)
      const summary = yield* opened.summarise()
      assert.deepStrictEqual(summary.plan, plan)
      assert.isAbove(plan.calls, 3)
      assert.strictEqual(asked.length, plan.calls)
      assert.strictEqual(summary.tokens, plan.calls * 10)
      // The last call reads what the others quoted, and nothing else.
      for (const { text } of asked.at(-1) ?? [])
        for (const quote of text.split("\n\n"))
          assert.isTrue(Object.values(FILES).some((file) => file.includes(quote)))
      assert.isAbove(summary.sentences.length, 1)
      for (const { quote } of summary.citations)
        assert.isTrue(Object.values(FILES).some((file) => file.includes(quote)))
      assert.strictEqual(new Set(summary.citations.map(({ document }) => document)).size, 2)
    }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(Models, quoting(asked, 120))))
  })

  it.effect("of a model leaves out what is not in the documents", () =>
    Effect.gen(function* () {
      const summary = yield* (yield* library(FILES)).summarise()
      assert.deepStrictEqual([summary.sentences, summary.text, summary.dropped], [[], "", 1])
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Layer.mergeAll(
          Models,
          quoting([], 100_000, () => [
            { text: "Ships are free.", evidence: [{ passage: 0, quote: "Ships are free of any charge." }] }
          ])
        )
      )
    )
  )

  let last = 0
  it.effect("has the sentences of the groups if the last response cannot be read, and says so", () => {
    const asked: Array<ReadonlyArray<ReaderPassage>> = []
    return Effect.gen(function* () {
      const opened = yield* library({ "canal.md": CANAL })
      const { calls } = yield* opened.planSummary()
      last = calls
      const summary = yield* opened.summarise()
      assert.strictEqual(summary.notRead?.reason, "truncated")
      assert.isAbove(summary.sentences.length, 1)
      assert.deepStrictEqual(
        summary.sentences.flatMap(({ citations }) => citations),
        summary.citations.map(({ n }) => n)
      )
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Layer.mergeAll(
          Models,
          quoting(asked, 120, (nth) =>
            nth === last ? [{ type: "end", notRead: notRead("truncated"), calls: 1, tokens: 10 }] : undefined
          )
        )
      )
    )
  })

  it.effect("reads as much as the budget allows", () =>
    Effect.gen(function* () {
      const opened = yield* library(FILES)
      const all = yield* opened.planSummary()
      assert.strictEqual(all.passages, all.matching)
      const some = yield* opened.planSummary({ tokens: 60 })
      assert.strictEqual(some.matching, all.matching)
      assert.isBelow(some.passages, all.passages)
      assert.isAbove(some.passages, 0)
    }).pipe(Effect.scoped, Effect.provide(Models))
  )

  it.effect("is of the passages that match, and fails if none does", () =>
    Effect.gen(function* () {
      const opened = yield* library(FILES)
      const bees = yield* opened.planSummary({ filter: Filter.not(Filter.equals("path", "canal.md")) })
      assert.deepStrictEqual([bees.documents, bees.matching], [1, 1])
      const tables = yield* opened.planSummary({
        filter: Filter.and(Filter.equals("kind", "table"), Filter.not(Filter.equals("path", "bees.md")))
      })
      assert.deepStrictEqual([tables.documents, tables.matching], [1, 1])
      const none = yield* Effect.flip(opened.summarise({ filter: Filter.equals("path", "x.md") }))
      assert.strictEqual(none.reason, "NotFound")
    }).pipe(Effect.scoped, Effect.provide(Models))
  )

  it.effect("rejects wrong options with a typed error", () =>
    Effect.gen(function* () {
      const { planSummary, summarise } = yield* library(FILES)
      for (const [wrong, told] of [
        [
          { token: 100 },
          /^"token" is not an option\. Options: filter, tokens, sentences, question, method\./
        ],
        [{ tokens: -1 }, /^tokens is -1; expected a whole number, 1 or more/],
        [{ method: "short" }, /^method is "short"; expected "model" or "extractive"/],
        [{ filter: 7 }, /^Not a valid filter/]
      ] as ReadonlyArray<readonly [object, RegExp]>)
        for (const call of [planSummary, summarise]) {
          const error = yield* Effect.flip<unknown, RagError, never>(call(wrong))
          assert.strictEqual(error.reason, "Malformed")
          assert.match(error.message, told)
        }
    }).pipe(Effect.provide(Models), Effect.scoped)
  )

  it.effect("of more than a hundred documents fails with advice", () =>
    Effect.gen(function* () {
      const files = Array.from({ length: 101 }, (_, i) => [`${i}.md`, `Text number ${i}.`])
      const opened = yield* library(Object.fromEntries(files))
      const filter = Filter.and(Filter.equals("kind", "passage"), Filter.equals("path", "7.md"))
      assert.strictEqual((yield* opened.planSummary({ filter })).documents, 1)
      const error = yield* Effect.flip(opened.planSummary())
      assert.strictEqual(error.reason, "TooLarge")
      assert.include(error.message, "101 documents match")
    }).pipe(Effect.scoped, Effect.provide(Models))
  )

  it.effect("is computed in the pool of threads", () =>
    Effect.gen(function* () {
      const opened = yield* library(FILES)
      const sent = yield* Effect.acquireRelease(
        Effect.sync(() => vi.spyOn(Worker.prototype, "postMessage")),
        (spy) => Effect.sync(() => spy.mockRestore())
      )
      yield* opened.summarise()
      const jobs = sent.mock.calls.flatMap(([message]) =>
        Predicate.hasProperty(message, "job") ? [message.job] : []
      )
      assert.include(jobs, "extractJob")
    }).pipe(Effect.scoped, Effect.provide(Models))
  )

  it.effect("reads at most 20,000 passages", () =>
    Effect.gen(function* () {
      const info = { path: "a.md", passages: 20_001, metadata: {} }
      const passages = () => Effect.die("its passages are read")
      const collection = { documents: Effect.succeed([info]), passages } as unknown as Collection
      const error = yield* Effect.flip(selectSummaryPassages(collection, undefined, 1))
      assert.strictEqual(error.reason, "TooLarge")
      assert.include(error.message, "20001 passages")
    })
  )
})
