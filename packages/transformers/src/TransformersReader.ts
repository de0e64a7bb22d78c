/** `Reader` by a model of extractive question answering in this process. */
import { Reader } from "@sluice/core"
import type { CitedSentence, ReaderPart, ReaderPassage } from "@sluice/core/models"
import { splitSentences } from "@sluice/core/text"
import { Effect, Layer, Stream } from "effect"
import type { Spans, TransformersModelOptions } from "./ModelJobs.ts"
import { batchesByLength, makeModelThread, modelName } from "./ModelThread.ts"

export interface TransformersReaderOptions extends TransformersModelOptions {
  /**
   * The least probability of a passage's best span against no answer, 0 to 1. Higher ones answer less often. Default 0.5: the
   * span has higher logits than no answer.
   */
  readonly threshold?: number
}

/** Where the model prefers an answer to none. It was not calibrated on any model. */
const THRESHOLD = 0.5

const MAX_SENTENCES = 3

/** The sentence, table row or line of code at a place of a passage. */
const sentenceAt = (passage: ReaderPassage, index: number, place: number): CitedSentence | undefined => {
  const found = splitSentences(passage).find(({ end, start }) => start <= place && place < end)
  if (found === undefined) return undefined
  const quote = passage.text.slice(found.start, found.end)
  return { text: found.named ?? found.text, evidence: [{ passage: index, quote }] }
}

/**
 * Loads the model on first use, in a thread, and releases it with the layer.
 *
 * **Details.** The model marks the best span of each passage, and says how probable no answer is. The sentences around the
 * spans are the answer, at most three, of different passages, the most probable first. A long passage is read in windows that
 * overlap. The model must be trained on questions without an answer too, as on SQuAD 2.
 *
 * ```ts
 * TransformersReader.layer({ model: "./models/xlm-roberta-base-squad2" })
 * ```
 */
export const layer = (options: TransformersReaderOptions): Layer.Layer<Reader> =>
  Layer.effect(
    Reader,
    Effect.gen(function* () {
      const { threshold = THRESHOLD, ...source } = options
      const run = yield* makeModelThread(source, "chat")
      const read = Effect.fn("TransformersReader.read")(function* (
        question: string,
        passages: ReadonlyArray<ReaderPassage>
      ) {
        const texts = passages.map(({ text }) => text)
        const spans: Array<{ passage: number; start: number; score: number }> = []
        let tokens = 0
        for (const batch of batchesByLength(texts)) {
          const found = yield* run<Spans>("spansJob", { question, texts: batch.map((i) => texts[i]!) })
          tokens += found.tokens
          spans.push(
            ...batch.flatMap((passage, j) => {
              const span = found.spans[j]
              return span === undefined || span.score < threshold ? [] : [{ passage, ...span }]
            })
          )
        }
        const answers = new Map<string, CitedSentence>()
        for (const { passage, start } of spans.toSorted(
          (a, b) => b.score - a.score || a.passage - b.passage
        )) {
          const sentence = sentenceAt(passages[passage]!, passage, start)
          // Passages may overlap.
          if (sentence !== undefined && !answers.has(sentence.text)) answers.set(sentence.text, sentence)
        }
        return [
          ...[...answers.values()].slice(0, MAX_SENTENCES),
          { type: "end", calls: 1, tokens }
        ] satisfies ReadonlyArray<ReaderPart>
      })
      return Reader.of({
        model: { id: modelName(options), kind: "extractive" },
        read: (question, passages) => Stream.fromIterableEffect(read(question, passages))
      })
    })
  )
