/** One chat whose response is a JSON object. */
import { Effect, Stream } from "effect"
import type { Extra } from "../contract/Fields.ts"
import { GatewayError, InvalidResponse } from "../contract/GatewayError.ts"
import { Gateway } from "../gateway/Gateway.ts"
import { type LenientValue, readLenientJson } from "./LenientJson.ts"
import { makeFlexibleChat } from "./OptionalFields.ts"
import { totalTokensOf } from "./Reading.ts"

export interface JsonChatOptions {
  readonly model: string
  /** The most tokens of the response, with those of reasoning. `null`: the model's limit. Default: `null`. */
  readonly maxTokens?: number | null
  /** More fields of each request, by their wire names. */
  readonly extra?: Extra
}

/** A response without its thoughts, and the JSON in it: `undefined` without any. */
export interface JsonResponse {
  readonly text: string
  readonly value: LenientValue | undefined
}

/** Makes chats of one model. A response in which `read` finds nothing fails with `InvalidResponse` and `missing`. */
export const makeJsonChats = ({ extra, maxTokens, model }: JsonChatOptions, missing: string) =>
  Effect.map(Gateway, (gateway) => (format: Extra) => {
    const send = makeFlexibleChat(gateway, format)
    return Effect.fnUntraced(function* <A>(
      instructions: string,
      content: string,
      read: (response: JsonResponse) => A | undefined
    ) {
      const messages = [
        { role: "system" as const, content: instructions },
        { role: "user" as const, content }
      ]
      const call = { model, messages: () => messages, extra, limit: maxTokens ?? undefined, temperature: 0 }
      const parts = yield* Stream.runCollect(send(call))
      const all = parts.map((part) => (part.type === "text" ? part.text : "")).join("")
      const text = all.replace(/^[\s\S]*<\/think>/i, "").trim()
      const at = text.search(/[{[]/)
      const found = read({ text, value: at < 0 ? undefined : readLenientJson(text.slice(at)).value })
      if (found === undefined) {
        const reason = new InvalidResponse({ message: missing })
        return yield* new GatewayError({ operation: "chat", model, reason })
      }
      const end = parts.find((part) => part.type === "end")
      return { found, tokens: end === undefined ? 0 : totalTokensOf(end) }
    })
  })
