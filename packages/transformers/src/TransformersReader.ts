/** `Reader` by a model of extractive question answering in this process. */
import { Reader } from "@sluice/core"
import type { ReaderPart, ReaderPassage } from "@sluice/core/models"
import { Array as Arrays, Effect, Layer, Stream } from "effect"
import type { FoundSentence, FoundSentences, TransformersModelOptions } from "./ModelJobs.ts"
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
        const found: Array<FoundSentence & { readonly passage: number }> = []
        let tokens = 0
        for (const batch of batchesByLength(passages.map(({ text }) => text))) {
          const input = { question, passages: batch.map((i) => passages[i]!) }
          const answer = yield* run<FoundSentences>("sentencesJob", input)
          tokens += answer.tokens
          batch.forEach((passage, j) => {
            const sentence = answer.sentences[j]
            if (sentence !== undefined && sentence.score >= threshold) found.push({ ...sentence, passage })
          })
        }
        found.sort((a, b) => b.score - a.score || a.passage - b.passage)
        // Passages may overlap.
        const answers = Arrays.dedupeWith(found, (a, b) => a.text === b.text).slice(0, MAX_SENTENCES)
        return [
          ...answers.map(({ passage, quote, text }) => ({ text, evidence: [{ passage, quote }] })),
          { type: "end", calls: 1, tokens }
        ] satisfies ReadonlyArray<ReaderPart>
      })
      return Reader.of({
        model: { id: modelName(options), kind: "extractive" },
        read: (question, passages) => Stream.fromIterableEffect(read(question, passages))
      })
    })
  )
