/** Summarises documents: a chat model reads them in groups, then the quotes that it chose. Without one, sentences are chosen. */
import { Reader } from "@sluice/core"
import { isChinese } from "@sluice/core/text"
import { Effect, Stream } from "effect"
import { chunksOf } from "effect/Array"
import { joinSentences } from "../answering/AnswerText.ts"
import { readerPassage, type Source, sourceOf } from "../answering/Evidence.ts"
import { makeSentenceReading } from "../answering/SentenceReading.ts"
import type { StoredPassage } from "../document/Document.ts"
import type { RagError } from "../document/RagError.ts"
import { modelError } from "../embedding/PassageEmbedder.ts"
import type { Collection } from "../store/PassageIndex.ts"
import { type SelectedPassages, selectSummaryPassages } from "./SummaryPassages.ts"
import { extract } from "./SummaryThread.ts"
import type { Summary, SummaryOptions, SummaryPlan } from "./Summary.ts"

/** Defaults of `SummaryOptions`. */
const SUMMARY = { tokens: 50_000, sentences: 8 } as const

/** One call of the model. */
const CALL = {
  /** Tokens of passages, and at most this share of the model's window. */
  tokens: 6_000,
  windowShare: 0.5,
  /** Sentences of a group. */
  sentences: 5,
  /** Tokens of the prompt. */
  promptTokens: 400,
  /** Tokens of a sentence with its quotes in a response, and of a quote in the next request. */
  sentenceTokens: 120,
  quoteTokens: 80
} as const

/** Groups that are read at the same time. */
const CONCURRENCY = 4

type Reading = ReturnType<typeof makeSentenceReading>

/** The question to the model. Its language is that of the summary. */
const questionOf = (passages: ReadonlyArray<StoredPassage>, question: string | undefined, most: number) => {
  const chinese = passages.filter(({ text }) => isChinese(text)).length > passages.length / 2
  if (question !== undefined)
    return (limit: number) => `${question} (${limit}${chinese ? " 句以内" : " sentences at most"})`
  return chinese
    ? (limit: number) => `这些段落的要点是什么？用不超过 ${Math.min(limit, most)} 句话概括。`
    : (limit: number) =>
        `What are the main points of these passages? Summarise them in ${Math.min(limit, most)} sentences at most, in the language of the passages.`
}

/** Passages that one call reads, in their order. */
const groupsOf = (
  { read, tokens }: SelectedPassages,
  most: number
): ReadonlyArray<ReadonlyArray<StoredPassage>> => {
  const groups: Array<Array<StoredPassage>> = []
  let left = 0
  for (const [i, passage] of read.entries()) {
    const estimated = tokens[i]!
    const group = groups.at(-1)
    // A section that begins in the second half of a group begins the next one.
    const isNextSection =
      left < most / 2 && group?.at(-1)?.headings.join("\n") !== passage.headings.join("\n")
    if (group === undefined || estimated > left || isNextSection) {
      groups.push([passage])
      left = most - estimated
    } else {
      group.push(passage)
      left -= estimated
    }
  }
  return groups
}

/** The calls of each step: one for each group, then for the quotes of `per` calls, until one is left. */
const callsOf = (groups: number, per: number): ReadonlyArray<number> =>
  groups <= 1 ? [groups] : [groups, ...callsOf(Math.ceil(groups / per), per)]

export const makeSummarizer = Effect.fn("Summarizer.make")(function* (
  collection: Effect.Effect<Collection, RagError>
) {
  const reader = yield* Reader
  const most = Math.min(CALL.tokens, CALL.windowShare * (reader.model.window ?? Number.POSITIVE_INFINITY))
  /** Responses whose quotes one call reads. */
  const per = Math.max(2, Math.floor(most / (CALL.sentences * CALL.quoteTokens)))

  const select = Effect.fnUntraced(function* ({ filter, method, tokens = SUMMARY.tokens }: SummaryOptions) {
    const selected = yield* selectSummaryPassages(yield* collection, filter, tokens)
    const isWritten = reader.model.kind === "generative" && method !== "extractive"
    return { selected, groups: isWritten ? groupsOf(selected, most) : [] }
  })

  const planOf = (
    { documents, matching, read, tokens }: SelectedPassages,
    groups: ReadonlyArray<ReadonlyArray<StoredPassage>>,
    { sentences = SUMMARY.sentences }: SummaryOptions
  ): SummaryPlan => {
    const steps = groups.length === 0 ? [] : callsOf(groups.length, per)
    const calls = steps.reduce((sum, count) => sum + count, 0)
    const quoted = (calls - (steps.at(-1) ?? 0)) * CALL.sentences * CALL.quoteTokens
    const texts = groups.length === 0 ? 0 : tokens.reduce((sum, count) => sum + count, 0)
    const written = Math.max(0, calls - 1) * CALL.sentences + (calls > 0 ? sentences : 0)
    return {
      method: groups.length === 0 ? "extractive" : "model",
      documents,
      passages: read.length,
      matching,
      calls,
      inputTokens: texts + quoted + calls * CALL.promptTokens,
      outputTokens: written * CALL.sentenceTokens
    }
  }

  /** Reads sources, and returns what was read. */
  const readAll = Effect.fnUntraced(function* (question: string, sources: ReadonlyArray<Source>) {
    const reading = makeSentenceReading(sources)
    yield* reader.read(question, sources.map(readerPassage)).pipe(
      Stream.mapError(modelError("answer")),
      Stream.runForEach((part) => Effect.sync(() => reading.toEvents(part)))
    )
    return reading
  })

  const summarise = Effect.fn("Summarizer.summarise")(function* (
    options: SummaryOptions = {}
  ): Effect.fn.Return<Summary, RagError> {
    const { groups, selected } = yield* select(options)
    const { sentences: limit = SUMMARY.sentences } = options
    const plan = planOf(selected, groups, options)
    if (plan.method === "extractive") {
      const reading = makeSentenceReading(selected.read.map((passage) => sourceOf(passage)))
      const texts = selected.read.map(({ figure, text }) => (figure === undefined ? text : ""))
      for (const sentence of yield* extract({ texts, limit })) reading.toEvents(sentence)
      return summaryOf(plan, reading, [])
    }
    const question = questionOf(selected.read, options.question, limit)
    const byId = new Map(selected.read.map((passage) => [passage.id, passage]))
    const all: Array<Reading> = []
    let before: ReadonlyArray<Reading> = []
    let step: ReadonlyArray<ReadonlyArray<Source>> = groups.map((group) =>
      group.map((passage) => sourceOf(passage))
    )
    while (true) {
      const isLast = step.length === 1
      const readings = yield* Effect.forEach(
        step,
        (sources) => readAll(question(isLast ? limit : CALL.sentences), sources),
        { concurrency: CONCURRENCY }
      )
      all.push(...readings)
      const [only] = readings
      if (isLast && only !== undefined) {
        const isLost = only.sentences.length === 0 && before.length > 0
        return summaryOf(plan, isLost ? joinReadings(before, step.flat()) : only, all)
      }
      before = readings
      step = chunksOf(readings, per).map((some) => quotesOf(some, byId))
    }
  })

  return {
    summarise,
    planSummary: Effect.fn("Summarizer.plan")(function* (options: SummaryOptions = {}) {
      const { groups, selected } = yield* select(options)
      return planOf(selected, groups, options)
    })
  }
})

/** What was quoted of each passage, to be read again. */
const quotesOf = (readings: ReadonlyArray<Reading>, passages: ReadonlyMap<string, StoredPassage>) =>
  [
    ...Map.groupBy(
      readings.flatMap(({ citations }) => citations),
      ({ passageId }) => passageId
    )
  ].flatMap(([id, citations]): ReadonlyArray<Source> => {
    const passage = passages.get(id)
    const quotes = [...new Set(citations.map(({ quote }) => quote))].join("\n\n")
    return passage === undefined ? [] : [{ passage, parts: [passage], text: quotes, seen: false }]
  })

/** The sentences of several readings, if the last response could not be read. */
const joinReadings = (readings: ReadonlyArray<Reading>, sources: ReadonlyArray<Source>): Reading => {
  const joined = makeSentenceReading(sources)
  for (const { citations, sentences } of readings)
    for (const { citations: numbers, text } of sentences) {
      const cited = citations.filter(({ n }) => numbers.includes(n))
      const evidence = cited.map(({ passageId, quote, quoted }) => ({
        passage: sources.findIndex(({ passage }) => passage.id === passageId),
        quote,
        quoted
      }))
      joined.toEvents({ text, evidence })
    }
  return joined
}

const summaryOf = (plan: SummaryPlan, reading: Reading, all: ReadonlyArray<Reading>): Summary => {
  const { citations, sentences } = reading
  const fault = all.map((each) => each.outcome(false).notRead).find((notRead) => notRead !== undefined)
  return {
    plan,
    text: sentences.length === 0 ? "" : joinSentences(sentences),
    sentences,
    citations,
    dropped: reading.dropped(),
    tokens: all.reduce((sum, each) => sum + (each.stage(0).tokens ?? 0), 0),
    ...(fault !== undefined && { notRead: fault })
  }
}
