/** A `Reader` of any chat model of the gateway. */
import { Effect, Layer, Stream } from "effect"
import { Gateway } from "../gateway/Gateway.ts"
import { NOT_FOUND, type Pending, readLine } from "./CitedLines.ts"
import { Reader } from "../models/Reader.ts"
import { prompt } from "./ReaderPrompt.ts"

/** Which chat model reads, and how much it takes and answers. */
export interface GatewayReaderOptions {
  readonly model: string
  /** Tokens of one answer at most; `MAX_TOKENS` when not given. */
  readonly maxTokens?: number
}

/** A dozen sentences with their quotes. */
export const MAX_TOKENS = 1500

/**
 * Derives a `Reader` from `Gateway`.
 *
 * **Details.** The model is asked for one JSON object a line, and each sentence is emitted as its line is complete. A
 * model that answers in prose with `[n]` markers is understood too: its quote is then the sentence of passage n that
 * shares most words with it.
 *
 * **Gotchas.** Passages are shown to the model as data, and it is told so; that makes injected instructions harmless
 * only as far as the model obeys. Nothing it says is given out without a citation.
 */
export const layer = (options: GatewayReaderOptions): Layer.Layer<Reader, never, Gateway> =>
  Layer.effect(
    Reader,
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { maxTokens = MAX_TOKENS, model } = options
      return Reader.of({
        model: { id: model, kind: "generative" },
        read: (question, passages) => {
          if (passages.length === 0) return Stream.empty
          return gateway
            .chatStream({ model, messages: prompt(question, passages), maxTokens, temperature: 0 })
            .pipe(
              Stream.flatMap((part) => (part.type === "text" ? Stream.make(part.text) : Stream.empty)),
              Stream.splitLines,
              Stream.mapAccum(
                (): Pending => "",
                // What it goes on to say is no answer, but comes to its end, which tells what it used.
                (pending, line) =>
                  pending === NOT_FOUND || line.trim() === NOT_FOUND
                    ? [NOT_FOUND, []]
                    : readLine(pending, line, passages)
              ),
              Stream.withSpan("GatewayReader.read")
            )
        }
      })
    })
  )
