/** `gateway.chat` and `gateway.chatStream` over HTTP. */
import { Duration, Effect, Stream } from "effect"
import { ChatRequest, ChatResponse } from "../../contract/Chat.ts"
import { extraOf, validateExtra } from "../../contract/Fields.ts"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import { type GatewayError, type GatewayReason, InvalidResponse } from "../../contract/GatewayError.ts"
import { validateChatImages } from "../../gateway/ChatImages.ts"
import type { ChatAnswer, ChatCall, ChatPart, Gateway } from "../../gateway/Gateway.ts"
import { tolerateChat } from "../../tolerance/Chat.ts"
import type { Caller, CallOptions } from "../call/Caller.ts"
import type { CallInfo } from "../call/CallInfo.ts"
import { recordMetadata } from "../call/Telemetry.ts"
import { streamMetadata } from "../transport/CallResult.ts"
import { decodeJson } from "../transport/DecodeJson.ts"
import { reasonOfErrorBeside } from "../transport/ErrorDetails.ts"
import type { Send } from "../transport/Send.ts"
import { mapResult, sendAndDecode } from "../transport/SendAndDecode.ts"
import { isEventStream, withActualType } from "./EventStream.ts"
import { chatEnd, chatParts, type StreamTimeouts } from "./ChatStream.ts"

const decode = decodeJson(ChatResponse, tolerateChat)

/** The text of a response. It may be missing if the model called tools, which `extra` of the request can name. */
const parseAnswer = (response: ChatResponse): Effect.Effect<ChatAnswer, GatewayReason> => {
  const [choice] = response.choices
  const failure = reasonOfErrorBeside(response.extra) ?? reasonOfErrorBeside(choice?.extra)
  if (failure !== undefined) return Effect.fail(failure)
  const toolCalls = choice?.message.extra?.["tool_calls"]
  const hasToolCalls = Array.isArray(toolCalls) && toolCalls.length > 0
  const text = choice?.message.content ?? (hasToolCalls ? "" : undefined)
  if (text !== undefined) {
    const extra = extraOf(response)
    return Effect.succeed({
      text,
      ...chatEnd(response, choice?.finish_reason),
      ...(extra !== undefined && { extra })
    })
  }
  const why = choice?.finish_reason ?? "no reason given"
  return Effect.fail(new InvalidResponse({ message: `The response has no text (${why}).` }))
}

const partsOf = ({ text, ...end }: ChatAnswer): Stream.Stream<ChatPart> =>
  Stream.make<ReadonlyArray<ChatPart>>({ type: "text", text }, { type: "end", ...end })

/** Without the messages, which must not reach spans. */
const callInfo = ({ maxTokens, model, temperature }: ChatCall): CallInfo => ({
  operation: "chat",
  model,
  repeat: "paid",
  request: {
    ...(maxTokens !== undefined && { "gen_ai.request.max_tokens": maxTokens }),
    ...(temperature !== undefined && { "gen_ai.request.temperature": temperature })
  }
})

const streamTimeouts = (
  { idleTimeout }: CallOptions,
  { attemptTimeout, callTimeout }: Caller
): StreamTimeouts =>
  idleTimeout === undefined
    ? { chunk: attemptTimeout, chunkOption: "attemptTimeout", event: callTimeout }
    : {
        chunk: Duration.fromInputUnsafe(idleTimeout),
        chunkOption: "idleTimeout",
        event: Duration.infinity
      }

export const makeChat = (
  options: CallOptions,
  caller: Caller,
  clients: { readonly buffered: Send; readonly streamed: Send }
): Pick<Gateway["Service"], "chat" | "chatStream"> => {
  const { create } = GatewayApi.groups.chat.endpoints
  const post = clients.buffered(create)
  const postStream = clients.streamed(create)
  const timeouts = streamTimeouts(options, caller)

  const send = (request: ChatCall, stream: boolean) => {
    const { extra, maxTokens: max_tokens, messages, model, temperature } = request
    const payload: ChatRequest = {
      model,
      messages,
      max_tokens,
      temperature,
      ...(extra !== undefined && { extra }),
      ...(stream && { stream, stream_options: { include_usage: true } })
    }
    return (stream ? postStream : post)({ payload })
  }

  const refuse = (request: ChatCall): GatewayError | undefined => {
    const reason = validateChatImages(request.messages) ?? validateExtra(request.extra, ChatRequest)
    return reason && caller.fail(callInfo(request), { reason, notExecuted: true })
  }

  const chat: Gateway["Service"]["chat"] = (request) =>
    refuse(request) ??
    caller.call(callInfo(request), mapResult(parseAnswer)(sendAndDecode(send(request, false), decode)))

  const chatStream = (request: ChatCall): Stream.Stream<ChatPart, GatewayError> => {
    const refused = refuse(request)
    if (refused !== undefined) return Stream.fail(refused)
    const info = callInfo(request)
    const attempt = sendAndDecode(Effect.flatMap(send(request, true), withActualType), (response) =>
      isEventStream(response)
        ? Effect.succeed(chatParts(response, timeouts))
        : Effect.map(decode(response), (body) => Stream.unwrap(Effect.map(parseAnswer(body), partsOf)))
    )
    const open = Effect.map(caller.callWithResult(info, attempt), ({ requestId, value }) =>
      value.pipe(
        Stream.mapError((reason) => caller.fail(info, { reason, requestId })),
        Stream.tap((part) => (part.type === "end" ? recordMetadata(info, streamMetadata(part)) : Effect.void))
      )
    )
    return Stream.unwrap(open)
  }
  return { chat, chatStream }
}
