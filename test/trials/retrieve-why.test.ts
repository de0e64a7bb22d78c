/** Explanations of results, comparison of configurations, and the choice of a fusion. */
import { assert, describe, it } from "@effect/vitest"
import { Filter, Fusion, Library } from "@sluice/rag"
import { FUSION, type Outcome, RECALL, type Why } from "@sluice/rag/retrieval"
import { tune } from "@sluice/rag/evaluation"
import { Effect } from "effect"
import { modelsLayer } from "../rag/Models.ts"
import { testFolder } from "../rag/TestFolder.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

const library = (files: Record<string, string>) =>
  Effect.gen(function* () {
    const { library: at } = yield* testFolder
    const opened = yield* Library.open(at)
    yield* opened.ingest({
      files: Object.entries(files).map(([path, text]) => ({ path, bytes: bytes(text) }))
    })
    const ids = new Map((yield* opened.documents).map(({ id, path }) => [path, id]))
    return { opened, idOf: (path: string) => ids.get(path) ?? "" }
  })

/** Sixty stations with nearly the same words, one duplicate, and one other document. */
const stations: Record<string, string> = {
  "other.md": "# Fees\n\nNine crowns.\n",
  "copy.md": "# Copy\n\nThe pump of station 7 is serviced in spring.\n",
  ...Object.fromEntries(
    Array.from({ length: 60 }, (_, i) => [
      `s${i}.md`,
      `# Copy\n\nThe pump of station ${i} is serviced in ${i === 7 ? "spring" : `week ${i}`}.\n`
    ])
  )
}
const QUESTION = "When is the pump of station 7 serviced in spring?"

const bestOf = (why: Why) => {
  const [best] = why.passages
  assert.isDefined(best)
  assert.strictEqual(why.sentence, best.sentence)
  return best
}

describe("why", () => {
  it.effect("names the stage that decided, for every document of a collection", () =>
    Effect.gen(function* () {
      const { idOf, opened } = yield* library(stations)
      const { kept, trace } = yield* opened.retrieve(QUESTION)
      const outcomes = new Map<Outcome, number>()
      for (const path of Object.keys(stations)) {
        const best = bestOf(yield* opened.why(idOf(path), QUESTION))
        outcomes.set(best.outcome, (outcomes.get(best.outcome) ?? 0) + 1)
        const traced = trace.passages.find(({ passage }) => passage.id === best.passage.id)
        // The trace has the same ranks.
        assert.deepStrictEqual(
          [traced?.recallRank, traced?.rerankRank, traced?.rerankScore],
          traced === undefined
            ? [undefined, undefined, undefined]
            : [best.places["fusion"]?.rank, best.places["rerank"]?.rank, best.places["rerank"]?.score]
        )
        assert.strictEqual(
          best.outcome === "kept",
          kept.some(({ id }) => id === best.passage.id)
        )
        if (best.outcome === "not kept")
          assert.match(best.sentence, /^Not kept: 3 were kept\. Ranks and scores: .*rerank \d+ \(/)
        if (best.outcome === "not ranked") assert.match(best.sentence, /the first 20 .*were recalled/)
        if (best.outcome === "not recalled") assert.match(best.sentence, /were reranked|were fused/)
      }
      assert.strictEqual(outcomes.get("kept"), 3)
      assert.strictEqual(outcomes.get("same"), 1)
      assert.strictEqual(outcomes.get("not kept"), RECALL - 3, "what says the same does not count")
      assert.isAbove(
        outcomes.get("not ranked") ?? 0,
        0,
        "the reranker of the tests is in the process and sees 50"
      )
      assert.isAbove(outcomes.get("not recalled") ?? 0, 0)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("has the ranks of the trace, with any number of duplicates", () =>
    Effect.gen(function* () {
      const notice = "Whoever waits at the quay wears a life jacket until the boat is tied up."
      const { idOf, opened } = yield* library({
        ...Object.fromEntries(
          Array.from({ length: 12 }, (_, i) => [`notice${i}.md`, `# Quay\n\n${notice}\n`])
        ),
        ...Object.fromEntries(
          Array.from({ length: 12 }, (_, i) => [
            `boat${i}.md`,
            `# Boats\n\nThe boat ${i} waits at quay ${i}.\n`
          ])
        )
      })
      const question = "Who waits at the quay with a life jacket?"
      const { trace } = yield* opened.retrieve(question)
      assert.isBelow(trace.candidates, 24, "some of the copies are not looked at")
      for (const { keywordRank, passage, recallRank, rerankRank, vectorRank } of trace.passages) {
        const { places } = bestOf(yield* opened.why(idOf(passage.document.path), question))
        const { fusion, keywords, rerank, vector } = places
        assert.deepStrictEqual(
          [fusion?.rank, rerank?.rank, vector?.rank, keywords?.rank],
          [recallRank, rerankRank, vectorRank ?? vector?.rank, keywordRank ?? keywords?.rank]
        )
      }
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("lists the words of the question that a passage has, in any form, and those that it lacks", () =>
    Effect.gen(function* () {
      const { idOf, opened } = yield* library({
        "a.md": "# Pumps\n\nA crew services each station.\n",
        "水.md": "# 水位\n\n每天早上七点测量水位。\n"
      })
      const best = bestOf(yield* opened.why(idOf("a.md"), "When is the pump serviced at night?"))
      assert.deepStrictEqual([best.shared, best.missing], [["pump", "serviced"], ["night"]])
      assert.match(
        best.sentence,
        /^Kept\. Ranks and scores: .*rerank 1 \(.*\)\. Has the words pump, serviced; lacks night\.$/
      )
      const chinese = bestOf(yield* opened.why(idOf("水.md"), "水位在什么时候测量？"))
      assert.includeMembers([...chinese.shared], ["测量"])
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("names the filter, the minimum relevance, and passages that no retriever finds", () =>
    Effect.gen(function* () {
      const { idOf, opened } = yield* library({
        "a.md": "# Gates\n\nThe gate opens at seven.\n",
        "b.md": "# Fees\n\nNine crowns a boat.\n"
      })
      const ask = (path: string, question: string, options?: Parameters<typeof opened.why>[2]) =>
        Effect.map(opened.why(idOf(path), question, options), bestOf)
      const filtered = yield* ask("a.md", "When does the gate open?", {
        filter: Filter.equals("format", "pdf")
      })
      assert.deepStrictEqual(
        [filtered.outcome, filtered.sentence.split(".")[0]],
        ["filtered", "The filter excludes it"]
      )
      const low = yield* ask("a.md", "When does the gate open?", { minimumRelevance: 50 })
      assert.strictEqual(low.outcome, "not relevant")
      assert.match(low.sentence, /minimum relevance is 50/)
      const nothing = yield* ask("b.md", "gate", { fusion: Fusion.keywords })
      assert.deepStrictEqual([nothing.outcome, nothing.shared, nothing.missing], ["not found", [], ["gate"]])
      assert.isUndefined(nothing.places["keywords"])
      const error = yield* Effect.flip(opened.why("0".repeat(32), "gate"))
      assert.deepStrictEqual([error.reason, error.stage], ["NotFound", "retrieve"])
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("matches names and numbers exactly", () =>
    Effect.gen(function* () {
      const { idOf, opened } = yield* library({
        "a.md":
          "# Notes\n\nSince 2.9.1 ERR_1042 costs 1,250,000 bytes; Effect.retry doesn’t help, see 192.168.1.1.\n",
        "b.md": "# Notes\n\nThe ticket 104299 is closed.\n"
      })
      const names = "2.9.1 ERR_1042 1,250,000 Effect.retry doesn't 192.168.1.1"
      assert.deepStrictEqual(bestOf(yield* opened.why(idOf("a.md"), names)).missing, [])
      const ticket = bestOf(yield* opened.why(idOf("b.md"), "ticket 104217"))
      assert.deepStrictEqual([ticket.shared, ticket.missing], [["ticket"], ["104217"]])
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )
})

describe("compare", () => {
  it.effect("lists the passages that enter, leave and move, by question and in total", () =>
    Effect.gen(function* () {
      const { opened } = yield* library(stations)
      const questions = [QUESTION, "nine crowns", "station 12 in week 12"]
      const wider = yield* opened.compare(questions, { keep: 1 }, { keep: 2 })
      for (const [i, question] of questions.entries()) {
        const { kept } = yield* opened.retrieve(question, { keep: 2 })
        assert.deepStrictEqual(
          wider.questions[i]?.entered.map(({ id }) => id),
          kept.slice(1).map(({ id }) => id)
        )
      }
      assert.deepStrictEqual([wider.changed, wider.entered, wider.left, wider.moved], [3, 3, 0, 0])
      const same = yield* opened.compare(questions, {}, {})
      assert.deepStrictEqual([same.changed, same.entered, same.left, same.moved], [0, 0, 0, 0])
      // In the other direction, the passages that entered leave.
      const back = yield* opened.compare(questions, { keep: 2 }, { keep: 1 })
      assert.deepStrictEqual(
        back.questions.map(({ left }) => left.map(({ id }) => id)),
        wider.questions.map(({ entered }) => entered.map(({ id }) => id))
      )
      const turned = yield* opened.compare([QUESTION], { fusion: Fusion.keywords }, { fusion: Fusion.dense })
      const [change] = turned.questions
      assert.strictEqual(change?.entered.length, change?.left.length)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )
})

describe("tune", () => {
  it.effect(
    "measures each fusion on the collection's own questions, and keeps the default unless another is significantly better",
    () =>
      Effect.gen(function* () {
        const topics = [
          "upper gate",
          "lower gate",
          "weir crest",
          "tow path",
          "winter ice",
          "boat fees",
          "night lamps",
          "fish ladder"
        ]
        const { opened } = yield* library(
          Object.fromEntries(
            topics.map((topic) => [
              `${topic}.md`,
              `# Handbook\n\n${["care", "repair", "history"]
                .map(
                  (part) =>
                    `## The ${topic} and its ${part}\n\n${`The ${topic} needs ${part} by the crew of the canal. `.repeat(4)}\n`
                )
                .join("\n")}`
            ])
          )
        )
        const tuning = yield* tune(opened, { fusions: [FUSION, Fusion.dense, Fusion.keywords] })
        assert.isAtLeast(tuning.questions, topics.length)
        assert.deepStrictEqual(
          tuning.fusions.map(({ fusion }) => fusion),
          [FUSION, Fusion.dense, Fusion.keywords]
        )
        for (const one of tuning.fusions) {
          assert.closeTo(one.score, (one["hit@3"] + one["MRR@10"] + one["recall@20"]) / 3, 1e-9)
          assert.isAbove(one.score, 0.3)
        }
        assert.deepStrictEqual(tuning.fusions[0]?.difference, { difference: 0, interval: [0, 0], p: 1 })
        const better = tuning.fusions.some(
          ({ difference }) => difference.difference > 0 && difference.p < 0.05 / 2
        )
        if (!better) assert.deepStrictEqual(tuning.fusion, FUSION)
        else assert.notDeepEqual(tuning.fusion, FUSION)
        assert.match(tuning.note, better ? /Chosen by the mean/ : /None of 3 fusions is better/)
        const { trace } = yield* opened.retrieve("upper gate", { fusion: tuning.fusion })
        assert.deepStrictEqual(trace.fusion, tuning.fusion)
      }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("keeps the default for 1 and 19 passages, and reports a library without questions", () =>
    Effect.gen(function* () {
      const { opened: none } = yield* library({})
      assert.strictEqual((yield* Effect.flip(tune(none))).reason, "Empty")
      for (const passages of [1, 19]) {
        const { opened } = yield* library(
          Object.fromEntries(
            Array.from({ length: passages }, (_, i) => [
              `${i}.md`,
              `# Canal\n\n## Lock number ${i} of the canal\n\n${`The keeper of lock ${i} opens it. `.repeat(5)}\n`
            ])
          )
        )
        assert.strictEqual((yield* opened.stats).passages, passages)
        const tuning = yield* tune(opened, { fusions: [FUSION, Fusion.dense] })
        assert.deepStrictEqual([tuning.questions, tuning.fusion], [passages, FUSION])
        assert.strictEqual(tuning.fusions[0]?.difference.p, 1)
      }
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )
})
