/** The reader of this process: it answers with sentences of the passages, and says so. */
import { Reader, type ReaderModel } from "@sluice/core"
import { Layer, Stream } from "effect"
import { readSentences } from "./readSentences.ts"

/** Extractive, English and Chinese. It writes no sentence of its own. */
export const readerModel: ReaderModel = { id: "sluice-extractive", kind: "extractive" }

/** `Reader` by `readSentences`. It never fails; nothing is read before the stream is asked for its first sentence. */
export const layerReader: Layer.Layer<Reader> = Layer.succeed(Reader, {
  model: readerModel,
  read: (question, passages) =>
    Stream.suspend(() => Stream.fromIterable(readSentences(question, passages))).pipe(
      Stream.withSpan("sluice.read")
    )
})
