/** The models that a library asks, paid for by whoever makes it ask. */
import {
  type ChatPart,
  type CitedSentence,
  Embedder,
  GatewayError,
  type ImageDetail,
  type Look,
  Reader,
  Reranker,
  Vision
} from "@sluice/core"
import {
  type ChatRequest,
  type EmbeddingRequest,
  type Failure,
  type RerankRequest,
  toReason
} from "@sluice/core/contract"
import { imageFormatOf, type ImageSize, imageSizeOf } from "@sluice/core/media"
import { countTokens } from "@sluice/embedded"
import { visionModel } from "@sluice/embedded/vision"
import type { Models } from "@sluice/rag"
import { Context, Effect, Option, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import { Caller, mayUse, modelNotAllowed } from "../accounts/Caller.ts"
import { Charges } from "../billing/Charges.ts"
import { chatMeter, embeddingsMeter, type Meter, rerankMeter } from "../billing/Meter.ts"
import { isBeyond, tooLong } from "../billing/MeteredStream.ts"
import { boundsOf } from "../billing/ReportedUsage.ts"
import { makeTally, type Tally } from "../billing/StreamUsageCounter.ts"
import { imageCost } from "../embedded/ImageChat.ts"
import { CurrentHearChat, type HearChat } from "../providers/LibraryGateway.ts"

/** A sentence as a piece of a chat's answer, where its tokens are counted. */
const pieceOf = ({ text }: CitedSentence) => ({ choices: [{ delta: { content: text } }] })

/** What a gateway's model wrote as an event of its stream. */
const eventOf = (part: ChatPart) =>
  part.type === "end"
    ? {
        choices: part.finishReason === undefined ? [] : [{}],
        usage: { prompt_tokens: part.promptTokens, completion_tokens: part.completionTokens }
      }
    : // Thoughts stand beside the text.
      { choices: [{ delta: { content: part.text } }, part.extra?.["choices"]].flat() }

/** Pays for what a gateway's model writes, and ends it where it goes far beyond what was asked for. */
const hearing =
  (tally: Tally): HearChat =>
  ({ maxTokens, model }, parts) => {
    const isLimited = maxTokens !== undefined
    const request = { model, messages: [], ...(isLimited && { max_tokens: maxTokens }) }
    const bounds = boundsOf(chatMeter.most(request), isLimited)
    const isTooLong = () => isBeyond(tally, bounds)
    return parts.pipe(
      Stream.map((part) => {
        tally.event(eventOf(part))
        return part
      }),
      Stream.takeUntil(isTooLong),
      Stream.concat(
        Stream.suspend(() => (isTooLong() ? Stream.fail(refusal(chatMeter, model, tooLong)) : Stream.empty))
      )
    )
  }

/** Tokens that a model counted, where it counts. */
const usageOf = (tokens: number) => (tokens > 0 ? { usage: { prompt_tokens: tokens } } : {})

/** Looking at images as the chat about them that it is; how they would travel makes no difference to its price. */
const chatAbout = (
  model: string,
  question: string,
  images: ReadonlyArray<Uint8Array>,
  detail: ImageDetail | undefined
): ChatRequest => ({
  model,
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: question },
        ...images.map(() => ({ type: "image_url" as const, image_url: { url: "", detail } }))
      ]
    }
  ]
})

/** What a look used. Of a model that counts nothing, what the same chat of `/v1` would have been told to cost. */
const lookUsage = (
  question: string,
  images: ReadonlyArray<Uint8Array>,
  detail: ImageDetail | undefined,
  { text, tokens }: Look
) => {
  const written = countTokens(text)
  const shown = images.reduce((sum, bytes) => sum + imageCost(detail, sizeOf(bytes)), countTokens(question))
  return {
    usage: {
      prompt_tokens: tokens > 0 ? Math.max(0, tokens - written) : shown,
      completion_tokens: written
    }
  }
}

const NO_SIZE: ImageSize = { width: 1, height: 1 }

const sizeOf = (bytes: Uint8Array): ImageSize => {
  const format = imageFormatOf(bytes)
  return (format && imageSizeOf(format, bytes)) ?? NO_SIZE
}

/**
 * The models of a library, each call of which debits the caller and the caller's key.
 *
 * **Details.** A call is priced, limited and permitted as the same call of `/v1` is. What the server does by itself, such as reading
 * the samples, nobody pays.
 *
 * **Gotchas.** Who pays is told by the fiber that calls: a stream that is read after its handler has returned needs
 * `keepingCaller`.
 */
export const metered = Effect.gen(function* () {
  const charges = yield* Charges
  const models = yield* Effect.context<Models>()
  const embedder = Context.get(models, Embedder)
  const reranker = Context.get(models, Reranker)
  const reader = Context.get(models, Reader)
  const vision = yield* Effect.serviceOption(Vision)

  const paid = <Request, Response>(
    meter: Meter<Request>,
    request: Request & { readonly model: string },
    call: Effect.Effect<Response, GatewayError>,
    tally?: Tally
  ): Effect.Effect<Response, GatewayError> =>
    Effect.gen(function* () {
      const caller = yield* Caller
      const { key, user } = caller
      const http = yield* Effect.serviceOption(HttpServerRequest.HttpServerRequest)
      if (user === "" || Option.isNone(http)) return yield* call
      if (!mayUse(caller, request.model)) {
        return yield* refusal(meter, request.model, modelNotAllowed(request.model))
      }
      const payer = { user, ...(key !== undefined && { key }) }
      const around = charges.around<Request, Response>({
        payer,
        meter,
        request,
        body: "",
        idempotency: undefined,
        call,
        ...(tally && { tally })
      })
      return yield* around.pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, http.value),
        Effect.mapError((error) => (error._tag === "Failure" ? refusal(meter, request.model, error) : error))
      )
    }) as Effect.Effect<Response, GatewayError>

  const paidVision = ({ look, model, read, ...rest }: Vision["Service"]) =>
    Vision.of({
      ...rest,
      model,
      look: (question, images, options) => {
        const request = chatAbout(model.id, question, images, options?.detail)
        const call = Effect.map(look(question, images, options), (seen) => ({
          ...seen,
          ...lookUsage(question, images, options?.detail, seen)
        }))
        return paid(chatMeter, request, call)
      },
      ...(read !== undefined && {
        read: (image) => {
          // Whoever looks, lines are read by the OCR of this process.
          const request = chatAbout(visionModel.id, "", [image], "auto")
          const call = Effect.map(read(image), (lines) => {
            const text = lines.map((line) => line.text).join("\n")
            return { lines, ...lookUsage("", [image], "auto", { text, tokens: 0 }) }
          })
          return Effect.map(paid(chatMeter, request, call), ({ lines }) => lines)
        }
      })
    })

  return models.pipe(
    (context) => (Option.isNone(vision) ? context : Context.add(context, Vision, paidVision(vision.value))),
    Context.add(Embedder, {
      ...embedder,
      embed: (texts, purpose) => {
        const request: EmbeddingRequest = { model: embedder.model.id, input: texts }
        if (texts.length === 0) return embedder.embed(texts, purpose)
        const call = Effect.map(embedder.embed(texts, purpose), (embedded) => ({
          ...embedded,
          ...usageOf(embedded.tokens)
        }))
        return paid(embeddingsMeter, request, call)
      }
    }),
    Context.add(Reranker, {
      ...reranker,
      rerank: (query, documents, options) => {
        const request: RerankRequest = {
          model: reranker.model.id,
          query,
          documents: documents.map(({ text, title }) => (title === undefined ? text : `${title} ${text}`))
        }
        if (documents.length === 0) return reranker.rerank(query, documents, options)
        const call = Effect.map(reranker.rerank(query, documents, options), (ranking) => ({
          ...ranking,
          ...usageOf(ranking.tokens)
        }))
        return paid(rerankMeter, request, call)
      }
    }),
    Context.add(Reader, {
      ...reader,
      read: (question, passages) => {
        const content = [question, ...passages.map(({ text, title }) => `${title} ${text}`)].join("\n")
        const request: ChatRequest = { model: reader.model.id, messages: [{ role: "user", content }] }
        return Stream.suspend(() => {
          const tally = makeTally()
          let isHeard = false
          const sentences = reader.read(question, passages).pipe(
            Stream.map((sentence) => {
              if (!isHeard) tally.event(pieceOf(sentence))
              return sentence
            }),
            Stream.provideService(CurrentHearChat, (call, parts) => {
              isHeard = true
              return hearing(tally)(call, parts)
            })
          )
          return Stream.unwrap(paid(chatMeter, request, Effect.succeed(sentences), tally))
        })
      }
    })
  )
})

const refusal = (meter: Meter<never>, model: string, failure: Failure) =>
  new GatewayError({ operation: meter.operation, model, reason: toReason(failure) })

/** A stream that is read for the caller of now, whoever reads it. */
export const keepingCaller = <A, E>(stream: Stream.Stream<A, E>): Effect.Effect<Stream.Stream<A, E>> =>
  Effect.map(Effect.context(), (context) => Stream.provideContext(stream, context))
