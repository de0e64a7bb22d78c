/** Answers a question from passages, with citations. Sentences whose quotes are not in their passages are left out. */
import { Reader, sharedWords } from "@sluice/core"
import { Clock, Effect, Stream, Struct } from "effect"
import { dedupeWith } from "effect/Array"
import type { Answer, AnswerEvent, AnswerSentence, ClosestPassage, FigureLook } from "./Answer.ts"
import type { Citation, StoredPassage } from "../document/Document.ts"
import { readerPassage, seenSource, type Source, sourceOf, verify } from "./Evidence.ts"
import { makeFigureVision } from "./FigureVision.ts"
import { modelError } from "../embedding/PassageEmbedder.ts"
import type { Collection } from "../store/PassageIndex.ts"
import type { RagError } from "../document/RagError.ts"
import { referredFigures } from "./ReferredFigures.ts"
import type { Retrieval } from "../retrieval/Retriever.ts"
import type { KeptPassage } from "../retrieval/stages/RetrievalStage.ts"
import type { StageTime } from "../retrieval/stages/Trace.ts"

/**
 * Makes the function that answers: it emits an event for each figure, sentence and stage, and the complete answer last.
 * With `Vision` in the context, the model is asked about figures among the passages, and those that they refer to.
 */
export const makeAnswerer = Effect.fn("Answerer.make")(function* (
  collection: Effect.Effect<Collection, RagError>
) {
  const reader = yield* Reader
  const vision = yield* makeFigureVision(collection)

  const answer = (question: string, { kept, trace }: Retrieval): Stream.Stream<AnswerEvent, RagError> => {
    const sources: Array<Source> = readPassages(kept).map(sourceOf)
    const figures: Array<FigureLook> = []
    const sentences: Array<AnswerSentence> = []
    const citations: Array<Citation> = []
    const stages = [...trace.stages]
    let dropped = 0

    const look = (passages: ReadonlyArray<StoredPassage>): Stream.Stream<AnswerEvent> => {
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

    const read = Stream.suspend(() =>
      sources.length === 0 ? Stream.empty : reader.read(question, sources.map(readerPassage))
    ).pipe(
      Stream.mapError(modelError("answer")),
      Stream.map((sentence): ReadonlyArray<AnswerEvent> => {
        const cited = verify(sentence, sources, citations)
        if (cited === undefined) {
          dropped++
          return []
        }
        citations.push(...cited.filter(({ n }) => n > citations.length))
        const verified: AnswerSentence = { text: sentence.text, citations: cited.map(({ n }) => n) }
        sentences.push(verified)
        return [{ type: "sentence", sentence: verified, citations: cited }]
      }),
      Stream.flattenIterable
    )

    const complete = Stream.sync((): AnswerEvent => {
      const found = sentences.length > 0
      const closest = found ? [] : closestPassages(question, kept)
      const outcome = found ? "answer" : closest.length > 0 ? "passages" : "nothing"
      const text = found ? joinSentences(sentences) : noAnswer(question, closest.length > 0)
      const answer: Answer = {
        question,
        found,
        outcome,
        answer:
          dropped === 0 ? text : `${text}${isChinese(question) ? "" : " "}${droppedNote(question, dropped)}`,
        sentences,
        citations,
        closest,
        dropped,
        figures,
        trace: {
          ...trace,
          readerModel: reader.model.id,
          ...(vision === undefined ? {} : { visionModel: vision.model.id }),
          stages
        }
      }
      return { type: "answer", answer }
    })

    const referred = referredFigures(question, kept, collection).pipe(
      Effect.map((found) => {
        sources.push(...found.map(sourceOf))
        const looked = look([...kept, ...found])
        const reading = withStage(read, stages, (milliseconds) => ({ stage: "read", milliseconds }))
        // An extractive model mostly reads text that is among the sources already. Read first, and again only if needed.
        if (vision?.model.kind === "generative") return Stream.concat(looked, reading)
        const known = sources.length
        const again = Stream.suspend(() =>
          sentences.length === 0 && sources.length > known ? reading : Stream.empty
        )
        return reading.pipe(Stream.concat(looked), Stream.concat(again))
      })
    )
    return Stream.concat(Stream.unwrap(referred), complete)
  }

  return (question: string, retrieval: Retrieval) => Stream.suspend(() => answer(question, retrieval))
})

/** The kept passages, best first, then the rest of their sections, each passage once. */
const readPassages = (kept: ReadonlyArray<KeptPassage>): ReadonlyArray<StoredPassage> =>
  dedupeWith([...kept, ...kept.flatMap(({ section = [] }) => section)], (a, b) => a.id === b.id)

/** The events, followed by a stage with their duration. */
const withStage = <E>(
  events: Stream.Stream<AnswerEvent, E>,
  stages: Array<StageTime>,
  stageOf: (milliseconds: number) => StageTime
): Stream.Stream<AnswerEvent, E> =>
  Stream.unwrap(
    Effect.map(Clock.currentTimeNanos, (started) => {
      const ended = Effect.map(Clock.currentTimeNanos, (now): AnswerEvent => {
        const stage = stageOf(Number(now - started) / 1e6)
        stages.push(stage)
        return { type: "stage", stage }
      })
      return Stream.concat(events, Stream.fromEffect(ended))
    })
  )

/** The sentences with their citation numbers. Chinese has no space between sentences. */
const joinSentences = (sentences: ReadonlyArray<AnswerSentence>): string =>
  sentences
    .map(
      ({ citations, text }) => text + (isChinese(text) ? "" : " ") + citations.map((n) => `[${n}]`).join("")
    )
    .reduce((text, next) => text + (isChinese(next) ? "" : " ") + next)

/** Passages that are shown instead of an answer. */
const MAX_CLOSEST = 3

const closestPassages = (
  question: string,
  kept: ReadonlyArray<KeptPassage>
): ReadonlyArray<ClosestPassage> => [
  ...kept
    .values()
    .map((passage) => ({
      passage: Struct.omit(passage, ["section"]),
      matches: sharedWords(question, passage.text)
    }))
    .filter(({ matches }) => matches.length > 0)
    .take(MAX_CLOSEST)
]

const noAnswer = (question: string, hasPassages: boolean): string => {
  if (hasPassages)
    return isChinese(question) ? "没有确定的答案。最接近的段落：" : "No sure answer. Closest passages:"
  return isChinese(question)
    ? "在这些文档中没有找到这个问题的答案。"
    : "The documents do not answer this question."
}

const droppedNote = (question: string, count: number): string => {
  if (isChinese(question)) return `（略去了 ${count} 句：其引文不在所引的文档中。）`
  return count === 1
    ? "(A sentence was left out: its quote was not found in the cited document.)"
    : `(${count} sentences were left out: their quotes were not found in the cited documents.)`
}

const isChinese = (text: string): boolean => /\p{Script=Han}/u.test(text)
