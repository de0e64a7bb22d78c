/** One chat whose response is a JSON object. */
import { Effect, Stream } from "effect"
import type { Extra } from "../contract/Fields.ts"
import { GatewayError, InvalidResponse } from "../contract/GatewayError.ts"
import { Gateway } from "../gateway/Gateway.ts"
import { type LenientValue, readLenientJson } from "./LenientJson.ts"
import { makeFlexibleChat } from "./OptionalFields.ts"
import { totalTokensOf } from "./Reading.ts"
import { withoutThoughts } from "./ResponseParser.ts"
import { isFields } from "./SentenceObjects.ts"

export interface JsonChatOptions {
  readonly model: string
  /** The most tokens of the response, with those of reasoning. `null`: the model's limit. Default: `null`. */
  readonly maxTokens?: number | null
  /** More fields of each request, by their wire names. */
  readonly extra?: Extra
}

/** A response without its thoughts, and the objects and lists in it. */
export interface JsonResponse {
  readonly text: string
  readonly values: ReadonlyArray<LenientValue>
}

const valuesIn = (text: string): ReadonlyArray<LenientValue> => {
  const values: Array<LenientValue> = []
  let rest = text
  for (let at = rest.search(/[{[]/); at >= 0; at = rest.search(/[{[]/)) {
    const { end, value } = readLenientJson(rest.slice(at))
    values.push(value)
    rest = rest.slice(at + end)
  }
  return values
}

/** The text of a field; without the field, the only text that the response has, which other models name otherwise. */
export const textField = ({ values }: JsonResponse, name: string): LenientValue | undefined => {
  const [value] = values.flat(1)
  if (!isFields(value)) return undefined
  if (name in value) return value[name]
  const texts = Object.values(value).filter((field) => typeof field === "string")
  return texts.length === 1 ? texts[0] : undefined
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
      const text = withoutThoughts(all)
      const found = read({ text, values: valuesIn(text) })
      if (found === undefined) {
        const reason = new InvalidResponse({ message: missing })
        return yield* new GatewayError({ operation: "chat", model, reason })
      }
      const end = parts.find((part) => part.type === "end")
      return { found, tokens: end === undefined ? 0 : totalTokensOf(end) }
    })
  })
