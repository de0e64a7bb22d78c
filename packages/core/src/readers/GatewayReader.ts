/** A `Reader` that uses a chat model of the gateway. */
import { Effect, Layer, Stream } from "effect"
import type { ChatMessage } from "../contract/Chat.ts"
import type { Extra } from "../contract/Fields.ts"
import type { GatewayError } from "../contract/GatewayError.ts"
import { Gateway } from "../gateway/Gateway.ts"
import { notRead, type NotReadReason } from "../models/NotRead.ts"
import { Reader, type ReaderPart } from "../models/Reader.ts"
import { type ChatStream, makeFlexibleChat } from "./OptionalFields.ts"
import { makePrompt, type ReaderPromptParts, repairPrompt, RESPONSE_FORMAT } from "./ReaderPrompt.ts"
import { makeReading } from "./Reading.ts"

export type { ReaderPromptParts } from "./ReaderPrompt.ts"

interface GatewayReaderOptions {
  readonly model: string
  /** The tokens of a request and its response together. Fewer passages are read with a small one. */
  readonly window?: number
  /** The most tokens of one response, with those of reasoning. `null`: the model's limit. Default: `MAX_TOKENS`. */
  readonly maxTokens?: number | null | undefined
  /** 0 to 2. `null`: the model's. Default: 0. */
  readonly temperature?: number | null | undefined
  /** More fields of each request, by their wire names, such as `reasoning_effort`. */
  readonly extra?: Extra | undefined
  /** What to add to the prompt, such as a tone. */
  readonly instructions?: string | undefined
  /** Replaces the prompt. Default: `makePrompt`. */
  readonly prompt?: ((parts: ReaderPromptParts) => ReadonlyArray<ChatMessage>) | undefined
}

/** Enough for a dozen sentences with quotes. */
export const MAX_TOKENS = 1500

/** The factor of `maxTokens` for the second request, if the first one was cut off before its first sentence. */
const MORE_TOKENS = 4

/** Faults after which the model is asked again, once. */
const REPAIRABLE: ReadonlySet<NotReadReason> = new Set(["truncated", "protocol", "unproven"])

/** A reader by any model that chats. `layer` takes that of the gateway. */
export const make = (chat: ChatStream, options: GatewayReaderOptions): Reader["Service"] => {
  const { extra, instructions, maxTokens = MAX_TOKENS, model, prompt = makePrompt, temperature = 0 } = options
  const send = makeFlexibleChat(chat, RESPONSE_FORMAT)
  return Reader.of({
    model: {
      id: model,
      kind: "generative",
      ...(options.window !== undefined && { window: options.window })
    },
    read: (question, passages, parts) => {
      if (passages.length === 0) return Stream.empty
      let calls = 0
      let tokens = 0

      const attempt = (
        messagesOf: (form: ReaderPromptParts["form"]) => ReadonlyArray<ChatMessage>,
        limit: number | null
      ): Stream.Stream<ReaderPart, GatewayError> => {
        const reading = makeReading(passages)
        const isLast = ++calls > 1
        const response = send({
          model,
          messages: messagesOf,
          extra,
          limit: limit ?? undefined,
          temperature: temperature ?? undefined
        })
        const rest = Stream.suspend((): Stream.Stream<ReaderPart, GatewayError> => {
          const [parts, result] = reading.end()
          const { fault, hasSentences, text, unanswered, unproved, wrong } = result
          tokens += result.tokens
          if (fault !== undefined && !hasSentences && !isLast && REPAIRABLE.has(fault)) {
            const again =
              fault === "truncated"
                ? attempt(messagesOf, limit && limit * MORE_TOKENS)
                : attempt((form) => repairPrompt(messagesOf(form), text, { form, wrong }), limit)
            return Stream.concat(Stream.fromIterable(parts), again)
          }
          return Stream.fromIterable<ReaderPart>([
            ...parts,
            ...unproved,
            {
              type: "end",
              ...(fault !== undefined && { notRead: notRead(fault) }),
              ...(unanswered.length > 0 && { unanswered }),
              calls,
              tokens
            }
          ])
        })
        return response.pipe(
          Stream.map((part) => reading.push(part)),
          Stream.flattenIterable,
          Stream.concat(rest)
        )
      }

      return Stream.suspend(() =>
        attempt((form) => prompt({ question, passages, form, instructions, parts }), maxTokens)
      ).pipe(Stream.withSpan("GatewayReader.read"))
    }
  })
}

/**
 * Derives a `Reader` from `Gateway`.
 *
 * **Details.** Requests a JSON schema (`response_format`) where the model accepts one, else one JSON object per line; each
 * sentence is emitted as it completes. Prose with `[n]` markers works too: the quote is then the sentence of passage n that
 * supports it, marked `matched`. A response without a sentence that the passages prove is asked for again once, with its
 * fault named. Fields that the model refuses (`max_tokens`, `temperature`, `response_format`) are left out; from then on, if the
 * refusal names them.
 *
 * **Gotchas.** The prompt declares passages as data, which stops injected instructions only if the model obeys.
 */
export const layer = (options: GatewayReaderOptions): Layer.Layer<Reader, never, Gateway> =>
  Layer.effect(
    Reader,
    Effect.map(Gateway, (gateway) => make(gateway, options))
  )
