/** The library's models, with each call billed to the user whose request made it. */
import {
  type ChatPart,
  Embedder,
  GatewayError,
  GatewayVision,
  QuestionRewriter,
  Reader,
  Reranker,
  Verifier,
  Vision
} from "@sluice/core"
import { type CitedSentence, isCitedSentence, type VisionAnswer } from "@sluice/core/models"
import {
  type ImageDetail,
  type ChatRequest,
  type EmbeddingRequest,
  type Failure,
  type RerankRequest,
  reasonOfStatus
} from "@sluice/core/contract"
import { imageFormatOf, type ImageSize, imageSizeOf } from "@sluice/core/media"
import { countTokens } from "@sluice/embedded"
import { visionModel } from "@sluice/embedded/vision"
import { Context, Effect, flow, Number, Option, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import { CurrentCaller, mayUse, modelNotAllowed } from "../accounts/Caller.ts"
import { Charges } from "../billing/Charges.ts"
import { chatMeter, embeddingsMeter, type Meter, rerankMeter } from "../billing/Meter.ts"
import {
  exceedsBounds,
  makeStreamUsageCounter,
  type StreamUsageCounter,
  outputTooLong
} from "../billing/StreamUsageCounter.ts"
import { streamBounds } from "../billing/ReportedUsage.ts"
import { addHeaders } from "../http/ResponseHeaders.ts"
import { embeddedImageTokens } from "../embedded/ImageChat.ts"
import type { LibraryModels } from "../providers/CurrentModels.ts"
import { type ChatInterceptor, CurrentChatInterceptor } from "../providers/LibraryGateway.ts"

const toError = (meter: Meter<never>, model: string, failure: Failure) =>
  new GatewayError({ operation: meter.operation, model, reason: reasonOfStatus(failure) })

/** In place of the request that a job does not have. */
const OF_A_JOB = HttpServerRequest.fromWeb(new Request("http://job.invalid/"))

/** Charges the caller and the caller's key for a call. Work of the server itself, such as reading samples, is free. */
const makeBill = Effect.map(
  Charges,
  (charges) =>
    <Request, Response>(
      meter: Meter<Request>,
      request: Request & { readonly model: string },
      call: Effect.Effect<Response, GatewayError>,
      counter?: StreamUsageCounter
    ) =>
      Effect.gen(function* () {
        const caller = yield* CurrentCaller
        const http = yield* Effect.serviceOption(HttpServerRequest.HttpServerRequest)
        if (caller.user === "") return yield* call
        if (!mayUse(caller, request.model)) {
          return yield* toError(meter, request.model, modelNotAllowed(request.model))
        }
        // A job has no response.
        const addTo = Option.isNone(http) ? () => Effect.void : addHeaders
        const paid = {
          payer: caller,
          meter,
          request,
          body: "",
          idempotency: undefined,
          call,
          addHeaders: addTo
        }
        return yield* charges.run<Request, Response>({ ...paid, ...(counter && { counter }) }).pipe(
          Effect.provideService(
            HttpServerRequest.HttpServerRequest,
            Option.getOrElse(http, () => OF_A_JOB)
          ),
          Effect.mapError((error) =>
            error._tag === "Failure" ? toError(meter, request.model, error) : error
          )
        )
      }) as Effect.Effect<Response, GatewayError>
)

type Bill = Effect.Success<typeof makeBill>

/** Adds the model's own token count, if it has one, in the form of a response's `usage`. */
const withUsage = <A extends { readonly tokens: number }>(result: A) => ({
  ...result,
  ...(result.tokens > 0 && { usage: { prompt_tokens: result.tokens } })
})

const billEmbedder = (bill: Bill, embedder: Embedder["Service"]): Embedder["Service"] => ({
  ...embedder,
  embed: (texts, purpose) => {
    const call = embedder.embed(texts, purpose)
    if (texts.length === 0) return call
    const request: EmbeddingRequest = { model: embedder.model.id, input: texts }
    return bill(embeddingsMeter, request, Effect.map(call, withUsage))
  }
})

const billReranker = (bill: Bill, reranker: Reranker["Service"]): Reranker["Service"] => ({
  ...reranker,
  rerank: (query, documents, options) => {
    const call = reranker.rerank(query, documents, options)
    if (documents.length === 0) return call
    const request: RerankRequest = {
      model: reranker.model.id,
      query,
      documents: documents.map(({ text, title }) => (title === undefined ? text : `${title} ${text}`))
    }
    return bill(rerankMeter, request, Effect.map(call, withUsage))
  }
})

const NO_SIZE: ImageSize = { width: 1, height: 1 }

const sizeOf = (bytes: Uint8Array): ImageSize => {
  const format = imageFormatOf(bytes)
  return (format && imageSizeOf(format, bytes)) ?? NO_SIZE
}

/** Bills a look at images as the same chat of `/v1`. The price does not depend on how images are sent. */
const billLook = <A extends Pick<VisionAnswer, "text" | "tokens">>(
  bill: Bill,
  { detail, images, model, question }: Look,
  call: Effect.Effect<A, GatewayError>
) => {
  const pictures = images.map(() => ({ type: "image_url" as const, image_url: { url: "", detail } }))
  const content = [{ type: "text" as const, text: question }, ...pictures]
  const withTokens = (seen: A) => {
    const written = countTokens(seen.text)
    const sizes = images.map((bytes) => embeddedImageTokens(detail, sizeOf(bytes)))
    // The model's own count, or else that of the same chat.
    const read = seen.tokens > 0 ? seen.tokens - written : Number.sumAll([countTokens(question), ...sizes])
    return { ...seen, usage: { prompt_tokens: Math.max(0, read), completion_tokens: written } }
  }
  return bill(chatMeter, { model, messages: [{ role: "user", content }] }, Effect.map(call, withTokens))
}

interface Look {
  readonly model: string
  readonly question: string
  readonly images: ReadonlyArray<Uint8Array>
  readonly detail: ImageDetail | undefined
}

const billVision = (bill: Bill, { look, model, read, reader }: Vision["Service"]) => {
  const billedLook: Vision["Service"]["look"] = (question, images, options) =>
    billLook(
      bill,
      { model: model.id, question, images, detail: options?.detail },
      look(question, images, options)
    )
  const byOcr = (image: Uint8Array, ocr: NonNullable<Vision["Service"]["read"]>) => {
    const looked = { model: visionModel.id, question: "", images: [image], detail: "auto" as const }
    const call = Effect.map(ocr(image), (lines) => {
      return { lines, text: lines.map(({ text }) => text).join("\n"), tokens: 0 }
    })
    return Effect.map(billLook(bill, looked, call), ({ lines }) => lines)
  }
  return Vision.of({
    ...(reader !== undefined && { reader }),
    model,
    look: billedLook,
    // Another model than the one that looks is the embedded OCR.
    ...(read !== undefined && {
      read: reader === undefined ? GatewayVision.readBy(billedLook) : (image) => byOcr(image, read)
    })
  })
}

/** A sentence as an event of a chat stream, to count its tokens. */
const sentenceEvent = ({ text }: CitedSentence) => ({ choices: [{ delta: { content: text } }] })

/** A part of a gateway's chat as an event of its stream. */
const partEvent = (part: ChatPart) =>
  part.type === "end"
    ? {
        choices: part.finishReason === undefined ? [] : [{}],
        usage: { prompt_tokens: part.promptTokens, completion_tokens: part.completionTokens }
      }
    : // Reasoning text comes in `extra`.
      { choices: [{ delta: { content: part.text } }, part.extra?.["choices"]].flat() }

/** Bills a gateway's chat, and ends it when it goes far beyond its limit. */
const billChat =
  (bill: Bill): ChatInterceptor =>
  ({ maxTokens, messages, model }, parts) =>
    Stream.suspend(() => {
      const counter = makeStreamUsageCounter()
      const isLimited = maxTokens !== undefined
      const request = { model, messages, ...(isLimited && { max_tokens: maxTokens }) }
      const bounds = streamBounds(chatMeter.most(request), isLimited)
      const isTooLong = () => exceedsBounds(counter, bounds)
      const counted = parts.pipe(
        Stream.tap((part) => Effect.sync(() => counter.event(partEvent(part)))),
        Stream.takeUntil(isTooLong),
        Stream.concat(
          Stream.suspend(() =>
            isTooLong() ? Stream.fail(toError(chatMeter, model, outputTooLong)) : Stream.empty
          )
        )
      )
      return Stream.unwrap(bill(chatMeter, request, Effect.succeed(counted), counter))
    })

/** Bills each chat of a reader that writes, and the reading of one that does not. */
const billReader = (bill: Bill, reader: Reader["Service"]): Reader["Service"] => ({
  ...reader,
  read: (question, passages, parts) =>
    Stream.suspend(() => {
      if (reader.model.kind === "generative") {
        return Stream.provideService(
          reader.read(question, passages, parts),
          CurrentChatInterceptor,
          billChat(bill)
        )
      }
      const content = [question, ...passages.map(({ text, title }) => `${title} ${text}`)].join("\n")
      const request: ChatRequest = { model: reader.model.id, messages: [{ role: "user", content }] }
      const counter = makeStreamUsageCounter()
      const sentences = reader
        .read(question, passages)
        .pipe(
          Stream.tap((part) => Effect.sync(() => isCitedSentence(part) && counter.event(sentenceEvent(part))))
        )
      return Stream.unwrap(bill(chatMeter, request, Effect.succeed(sentences), counter))
    })
})

/** Bills each chat of a verifier. One of this process is free. */
const billVerifier = (bill: Bill, verifier: Verifier["Service"]): Verifier["Service"] => ({
  ...verifier,
  verify: flow(verifier.verify, Effect.provideService(CurrentChatInterceptor, billChat(bill)))
})

/** Bills each chat of a rewriter. */
const billRewriter = (bill: Bill, rewriter: QuestionRewriter["Service"]): QuestionRewriter["Service"] => {
  const { generate, rewrite, toSql } = rewriter
  const billed = Effect.provideService(CurrentChatInterceptor, billChat(bill))
  return {
    ...rewriter,
    rewrite: flow(rewrite, billed),
    ...(generate && { generate: flow(generate, billed) }),
    ...(toSql && { toSql: flow(toSql, billed) })
  }
}

/** The models with one of them in place of its kind, if they have one. */
const replaceOptional =
  <Id, Model>(kind: Context.Key<Id, Model>, bill: (model: Model) => Model) =>
  <Models>(models: Context.Context<Models>): Context.Context<Models> =>
    Option.match(Context.getOption(models, kind), {
      onNone: () => models,
      onSome: (model) => Context.add(models, kind, bill(model)) as Context.Context<Models>
    })

/**
 * The library's models, with each call billed to the caller and the caller's key.
 *
 * **Details.** A call has the price, limits and permissions of the same call of `/v1`.
 *
 * **Gotchas.** The caller is read from the running fiber. `HttpApiBuilder` runs the stream of a response in the context of
 * its handler.
 */
export const makeBilledModels = Effect.map(
  makeBill,
  (bill) =>
    ({ context }: LibraryModels) =>
      context.pipe(
        replaceOptional(QuestionRewriter, (rewriter) => billRewriter(bill, rewriter)),
        replaceOptional(Verifier, (verifier) => billVerifier(bill, verifier)),
        replaceOptional(Vision, (vision) => billVision(bill, vision)),
        Context.add(Embedder, billEmbedder(bill, Context.get(context, Embedder))),
        Context.add(Reranker, billReranker(bill, Context.get(context, Reranker))),
        Context.add(Reader, billReader(bill, Context.get(context, Reader)))
      )
)
