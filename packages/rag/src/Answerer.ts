/** Passages to a cited answer. A quote that does not stand in its passage to the letter is not shown. */
import { type CitedSentence, Reader, type ReaderPassage } from "@sluice/core"
import { Clock, Effect, Stream } from "effect"
import type { Answer, AnswerEvent, AnswerSentence } from "./Answer.ts"
import type { Citation, StoredPassage } from "./Document.ts"
import { modelError, titleOf } from "./PassageEmbedder.ts"
import type { RagError } from "./RagError.ts"
import type { Retrieval } from "./Retriever.ts"
import type { StageTime } from "./Trace.ts"

/** Answers from what was retrieved: sentences as they come, the whole answer last. */
export interface Answerer {
  readonly answer: (question: string, retrieval: Retrieval) => Stream.Stream<AnswerEvent, RagError>
}

export const makeAnswerer = Effect.fn("Answerer.make")(function* () {
  const reader = yield* Reader

  const answer: Answerer["answer"] = (question, { kept, trace }) =>
    Stream.unwrap(
      Effect.map(Clock.currentTimeNanos, (started) => {
        const sentences: Array<AnswerSentence> = []
        const citations: Array<Citation> = []
        let dropped = 0
        const passages = kept.map(({ document, headings, text }): ReaderPassage => ({
          title: titleOf(document.title, headings),
          text
        }))
        const read = passages.length === 0 ? Stream.empty : reader.read(question, passages)
        return read.pipe(
          Stream.mapError((error) => modelError("answer", error)),
          Stream.map((sentence): ReadonlyArray<AnswerEvent> => {
            const cited = verify(sentence, kept, citations)
            if (cited === undefined) {
              dropped++
              return []
            }
            const added = cited.filter(({ n }) => n > citations.length)
            citations.push(...added)
            const whole: AnswerSentence = { text: sentence.text, citations: cited.map(({ n }) => n) }
            sentences.push(whole)
            return [{ type: "sentence", sentence: whole, citations: cited }]
          }),
          Stream.flattenIterable,
          Stream.concat(
            Stream.fromIterableEffect(
              Effect.map(Clock.currentTimeNanos, (ended): ReadonlyArray<AnswerEvent> => {
                const stage: StageTime = { stage: "read", milliseconds: Number(ended - started) / 1e6 }
                const found = sentences.length > 0
                const whole: Answer = {
                  question,
                  found,
                  answer: found ? writeOut(sentences) : nothingFound(question),
                  sentences,
                  citations,
                  dropped,
                  figures: [],
                  trace: { ...trace, readerModel: reader.model.id, stages: [...trace.stages, stage] }
                }
                return [
                  { type: "stage", stage },
                  { type: "answer", answer: whole }
                ]
              })
            )
          )
        )
      })
    )

  return { answer } satisfies Answerer
})

/** The citations of a sentence, numbered; undefined when it has none, or when one of its quotes is not to be found. */
const verify = (
  sentence: CitedSentence,
  kept: ReadonlyArray<StoredPassage>,
  before: ReadonlyArray<Citation>
): ReadonlyArray<Citation> | undefined => {
  const cited: Array<Citation> = []
  let next = before.length + 1
  for (const { passage, quote } of sentence.evidence) {
    const citation = locate(kept[passage], quote, next)
    if (citation === undefined) return undefined
    const same = [...before, ...cited].find(
      ({ end, passageId, start }) =>
        passageId === citation.passageId && start === citation.start && end === citation.end
    )
    if (same === undefined) next++
    if (same === undefined || !cited.includes(same)) cited.push(same ?? citation)
  }
  return cited.length > 0 && sentence.text.trim() !== "" ? cited : undefined
}

/** Where a quote stands, to the letter; undefined when it does not. */
const locate = (passage: StoredPassage | undefined, quote: string, n: number): Citation | undefined => {
  if (passage === undefined || quote.trim() === "") return undefined
  const at = passage.text.indexOf(quote)
  if (at < 0) return undefined
  const start = passage.start + at
  const end = start + quote.length
  const lines = passage.lines.filter((line) => line.start < end && start < line.end)
  const page = lines[0]?.page ?? passage.page
  return {
    n,
    document: passage.document.path,
    documentId: passage.document.id,
    title: passage.document.title,
    passageId: passage.id,
    headings: passage.headings,
    quote,
    start,
    end,
    boxes: lines.map((line) => ({ page: line.page, box: line.box })),
    ...(page === undefined ? {} : { page })
  }
}

/** The sentences with their numbers; Chinese sentences follow each other without a space. */
const writeOut = (sentences: ReadonlyArray<AnswerSentence>): string =>
  sentences
    .map(
      ({ citations, text }) => text + (isChinese(text) ? "" : " ") + citations.map((n) => `[${n}]`).join("")
    )
    .reduce((whole, next) => whole + (isChinese(next) ? "" : " ") + next)

const nothingFound = (question: string): string =>
  isChinese(question) ? "在这些文档中没有找到这个问题的答案。" : "The documents do not answer this question."

const isChinese = (text: string): boolean => /\p{Script=Han}/u.test(text)
