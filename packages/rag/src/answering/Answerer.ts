/** Answers a question from passages, with citations. Sentences whose quotes are not in their passages are left out. */
import { QuestionRewriter, Reader, Verifier } from "@sluice/core"
import { sharedWords } from "@sluice/core/text"
import { isCitedSentence } from "@sluice/core/models"
import { Clock, Effect, Option, Stream } from "effect"
import { dedupeWith } from "effect/Array"
import type { Answer, AnswerEvent, FigureLook } from "./Answer.ts"
import type { AnswerOptions } from "./AnswerOptions.ts"
import { answerText } from "./AnswerText.ts"
import type { StoredPassage } from "../document/Document.ts"
import { embeddedText } from "../document/SearchText.ts"
import { referencesIn } from "../formats/parsing/Mentions.ts"
import { readerPassage, seenSource, type Source, sourceOf } from "./Evidence.ts"
import { makeFigureVision } from "./FigureVision.ts"
import { modelError } from "../embedding/PassageEmbedder.ts"
import type { Collection } from "../store/PassageIndex.ts"
import type { PartRetrieval } from "./PartRetrieval.ts"
import type { RagError } from "../document/RagError.ts"
import { type ReadPassages, readingContext } from "./ReadingContext.ts"
import { isReferred, referredFigures } from "./ReferredFigures.ts"
import { makeSentenceReading } from "./SentenceReading.ts"
import type { Retrieval } from "../retrieval/Retriever.ts"
import type { KeptPassage } from "../retrieval/stages/RetrievalStage.ts"
import { calculate } from "../tables/Calculation.ts"
import type { ReadDocument } from "../tables/TableRows.ts"
import { verifySentences } from "./VerifySentences.ts"
import type { StageTime } from "../retrieval/stages/Trace.ts"

/**
 * Makes the function that answers: it emits an event for each figure, sentence and stage, and the complete answer last.
 * With `Vision` in the context, the model is asked about figures among the passages, and those that they refer to.
 */
export const makeAnswerer = Effect.fn("Answerer.make")(function* (
  collection: Effect.Effect<Collection, RagError>,
  document: ReadDocument
) {
  const reader = yield* Reader
  const vision = yield* makeFigureVision(collection)
  const rewriter = Option.getOrUndefined(yield* Effect.serviceOption(QuestionRewriter))
  // An extractive reader's sentences are its quotes.
  const verifier = Option.getOrUndefined(
    Option.filter(yield* Effect.serviceOption(Verifier), () => reader.model.kind === "generative")
  )

  const answer = (
    question: string,
    retrieval: Retrieval | PartRetrieval,
    { context = {}, verify = "mark" }: AnswerOptions,
    before: string | undefined,
    findClosest: Effect.Effect<Answer["closest"]>
  ): Stream.Stream<AnswerEvent, RagError> => {
    const { kept, parts = [], trace, whole = [] } = { parts: [], whole: [], ...retrieval }
    const sources: Array<Source> = []
    const figures: Array<FigureLook> = []
    const partQuestions = parts.map((part) => part.question)
    const isGenerative = reader.model.kind === "generative"
    // `before` has the questions of a conversation that this one may depend on.
    const asked = isGenerative && before !== undefined ? `${question}\n(Asked after: ${before})` : question
    const reading = makeSentenceReading(sources, partQuestions)
    const stages = [...trace.stages]
    let isCalculated = false

    // An extractive reader reads each part alone.
    const readSentences =
      parts.length === 0 || isGenerative
        ? readWhole(reader, asked, partQuestions, { reading, sources })
        : readParts(reader, [{ question, kept: whole }, ...parts], { reading, sources })

    const verified = Stream.suspend(() => {
      // A calculated number stands in no quote.
      if (verifier === undefined || verify === "off" || isCalculated || reading.sentences.length === 0)
        return Stream.empty
      const verified = verifySentences(verifier, question, reading, verify === "drop")
      return Stream.fromEffect(Effect.map(verified, addStage(stages)))
    })

    const end = Effect.gen(function* () {
      const closest = reading.sentences.length > 0 ? [] : yield* findClosest
      const answer: Omit<Answer, "answer"> = {
        question,
        found: reading.sentences.length > 0,
        ...reading.outcome(closest.length > 0),
        ...(parts.length > 0 && { parts: reading.parts() }),
        sentences: reading.sentences,
        citations: reading.citations,
        closest,
        dropped: reading.dropped(),
        unsupported: reading.unsupported(),
        figures,
        trace: {
          ...trace,
          readerModel: reader.model.id,
          ...(vision === undefined ? {} : { visionModel: vision.model.id }),
          ...(verifier === undefined || verify === "off" ? {} : { verifierModel: verifier.model.id }),
          stages
        }
      }
      return { type: "answer", answer: { ...answer, answer: answerText(answer) } } satisfies AnswerEvent
    })

    const passages = isGenerative
      ? readingContext(retrieval, collection, reader.model, context)
      : Effect.succeed(readPassages(kept))

    /** An answer from the rows of tables is exact: nothing is read. */
    const calculateOrRead = Effect.gen(function* () {
      if (parts.length > 0) return yield* referred
      const tried = yield* calculate(question, retrieval, { collection, document, rewriter })
      if (tried === undefined) return yield* referred
      const { answer, stage } = tried
      const ended = addStage(stages)(stage)
      if (answer === undefined) return Stream.prepend(yield* referred, [ended])
      isCalculated = true
      sources.push(...answer.passages.map((passage) => sourceOf(passage)))
      const events = answer.sentences.flatMap((sentence) => reading.toEvents(sentence))
      return Stream.fromIterable([...events, ended])
    })

    const referred = Effect.all([passages, referredFigures(question, kept, collection)]).pipe(
      Effect.map(([read, found]) => {
        sources.push(...sourcesWith(read, found))
        const shown = [...kept, ...found].filter((passage) => mayShow(vision, question, passage))
        const looked = look(vision, question, shown, { sources, figures, stages })
        const reads = withStage(readSentences, stages, reading.stage)
        return lookAndRead(vision, looked, reads, { reading, sources })
      })
    )
    return Stream.unwrap(calculateOrRead).pipe(Stream.concat(verified), Stream.concat(Stream.fromEffect(end)))
  }

  return (...of: Parameters<typeof answer>) => Stream.suspend(() => answer(...of))
})

/** Adds a stage to the trace, and returns its event. */
const addStage =
  (stages: Array<StageTime>) =>
  (stage: StageTime): AnswerEvent => {
    stages.push(stage)
    return { type: "stage", stage }
  }

/** What is read, and from what. */
interface ReadSources {
  readonly reading: ReturnType<typeof makeSentenceReading>
  readonly sources: ReadonlyArray<Source>
}

/** Reads a question from all sources. */
const readWhole = (
  reader: Reader["Service"],
  question: string,
  parts: ReadonlyArray<string>,
  { reading, sources }: ReadSources
): Stream.Stream<AnswerEvent, RagError> =>
  Stream.suspend(() =>
    sources.length === 0 ? Stream.empty : reader.read(question, sources.map(readerPassage), parts)
  ).pipe(
    Stream.mapError(modelError("answer")),
    Stream.map((part) => reading.toEvents(part)),
    Stream.flattenIterable
  )

/** Reads each part of a question from what was kept for it. The first is the question itself. */
const readParts = (
  reader: Reader["Service"],
  parts: PartRetrieval["parts"],
  { reading, sources }: ReadSources
): Stream.Stream<AnswerEvent, RagError> =>
  Stream.fromIterable(parts.entries()).pipe(
    Stream.flatMap(([at, { kept, question }]) => {
      const ids = new Set(kept.flatMap(({ id, section = [] }) => [id, ...section.map((one) => one.id)]))
      const own = sources.flatMap(({ passage }, i) => (ids.has(passage.id) ? [i] : []))
      if (own.length === 0) return Stream.empty
      return reader
        .read(
          question,
          own.map((i) => readerPassage(sources[i]!))
        )
        .pipe(
          Stream.mapError(modelError("answer")),
          Stream.map((part) =>
            isCitedSentence(part)
              ? reading.toEvents(
                  {
                    ...part,
                    evidence: part.evidence.map((one) => ({ ...one, passage: own[one.passage] ?? -1 }))
                  },
                  at - 1
                )
              : reading.toEvents(part)
          ),
          Stream.flattenIterable
        )
    })
  )

type FigureVision = Effect.Success<ReturnType<typeof makeFigureVision>>

/** An extractive vision model reads words that the figure's text has too: without one of the question it finds nothing. */
const mayShow = (vision: FigureVision, question: string, passage: StoredPassage): boolean =>
  vision?.model.kind === "generative" ||
  [...referencesIn(question)].some((reference) => isReferred(passage, reference)) ||
  sharedWords(question, embeddedText(passage.document.title, passage)).length > 0

interface Looked {
  readonly sources: Array<Source>
  readonly figures: Array<FigureLook>
  readonly stages: Array<StageTime>
}

/** Asks the vision model about figures, and adds its answers to what is read. */
const look = (
  vision: FigureVision,
  question: string,
  passages: ReadonlyArray<StoredPassage>,
  { figures, sources, stages }: Looked
): Stream.Stream<AnswerEvent> => {
  const shown = passages.filter(({ figure }) => figure?.crop !== undefined)
  if (vision === undefined || shown.length === 0) return Stream.empty
  const looked = vision.look(question, shown).pipe(
    Stream.map((seen): AnswerEvent => {
      const source = seenSource(seen, vision.model.kind)
      if (source !== undefined) sources.push(source)
      figures.push(seen.look)
      return { type: "looked", look: seen.look }
    })
  )
  return withStage(looked, stages, (milliseconds) => {
    const failed = figures.flatMap((figure) => figure.failed ?? [])
    return {
      stage: "look",
      milliseconds,
      tokens: figures.reduce((sum, { cached, tokens }) => sum + (cached ? 0 : tokens), 0),
      ...(failed.length === 0 ? {} : { failed: failed.join(" ") })
    }
  })
}

/** What is read as sources, with the figures that are referred to and not among them. */
const sourcesWith = (
  read: ReadonlyArray<ReadPassages>,
  figures: ReadonlyArray<StoredPassage>
): ReadonlyArray<Source> => {
  const known = new Set(read.flat().map(({ id }) => id))
  const added = figures.filter(({ id }) => !known.has(id))
  return [...read, ...added.map((passage) => [passage] as const)].map((parts) => sourceOf(...parts))
}

/** An extractive vision model mostly reads text that is among the sources already. Read first, and again only if needed. */
const lookAndRead = (
  vision: FigureVision,
  looked: Stream.Stream<AnswerEvent>,
  reads: Stream.Stream<AnswerEvent, RagError>,
  { reading, sources }: ReadSources
): Stream.Stream<AnswerEvent, RagError> => {
  if (vision?.model.kind === "generative") return Stream.concat(looked, reads)
  const count = sources.length
  const again = Stream.suspend(() =>
    reading.sentences.length === 0 && sources.length > count ? reads : Stream.empty
  )
  return reads.pipe(Stream.concat(looked), Stream.concat(again))
}

/** The kept passages, best first, then the rest of their sections, each passage once. */
const readPassages = (kept: ReadonlyArray<KeptPassage>): ReadonlyArray<ReadPassages> =>
  dedupeWith([...kept, ...kept.flatMap(({ section = [] }) => section)], (a, b) => a.id === b.id).map(
    (passage) => [passage]
  )

/** The events, followed by a stage with their duration. */
const withStage = <E>(
  events: Stream.Stream<AnswerEvent, E>,
  stages: Array<StageTime>,
  stageOf: (milliseconds: number) => StageTime
): Stream.Stream<AnswerEvent, E> =>
  Stream.unwrap(
    Effect.map(Clock.currentTimeNanos, (started) => {
      const ended = Effect.map(Clock.currentTimeNanos, (now) =>
        addStage(stages)(stageOf(Number(now - started) / 1e6))
      )
      return Stream.concat(events, Stream.fromEffect(ended))
    })
  )
