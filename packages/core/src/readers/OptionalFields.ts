/** Sends a chat without the fields that its model refuses, and remembers those that a refusal named. */
import { Effect, Stream, Struct } from "effect"
import type { Extra } from "../contract/Fields.ts"
import type { GatewayError } from "../contract/GatewayError.ts"
import type { ChatCall, ChatPart, Gateway } from "../gateway/Gateway.ts"

/** The optional fields of a reader's request, and how a refusal names them. */
const FIELDS = {
  response_format: /response.?format|json.?schema|structured|guided|grammar/i,
  temperature: /temperature/i,
  max_completion_tokens: /max.?completion.?tokens/i,
  max_tokens: /max.?tokens/i
} as const

type Field = keyof typeof FIELDS
type Values = { readonly [F in Field]?: F extends "response_format" ? Extra : number }

/** Whether the request may be refused because of its fields. */
const isRejected = ({ notExecuted, reason }: GatewayError): boolean =>
  reason._tag === "InvalidRequest" ||
  // Sluice's server reports a rejected request of its own as its failure.
  (reason._tag === "ServerFailure" && reason.status === 502 && reason.final === true && notExecuted !== true)

/** The fields that an error names. */
const namedFields = ({ reason }: GatewayError, sent: ReadonlyArray<Field>): ReadonlyArray<Field> => {
  const about = `${reason._tag === "InvalidRequest" ? (reason.param ?? "") : ""} ${reason.message}`
  return sent.filter((field) => FIELDS[field].test(about))
}

/** A chat with optional fields. `limit` and `temperature`: undefined leaves them out. */
export interface FlexibleCall extends Pick<ChatCall, "model"> {
  /** With and without a response format. */
  readonly messages: (form: "schema" | "lines") => ChatCall["messages"]
  readonly extra: Extra | undefined
  readonly limit: number | undefined
  readonly temperature: number | undefined
}

/** What answers chats: a gateway, or a model in this process. */
export type ChatStream = Pick<Gateway["Service"], "chatStream">

/** Sends chats of one model. */
export const makeFlexibleChat = (chat: ChatStream, responseFormat: Extra) => {
  const refused = new Set<Field>()

  /** `without` has the fields that refusals named. After a refusal that names none, all are left out of this call. */
  const attempt = (
    call: FlexibleCall,
    without: ReadonlyArray<Field>,
    isBare = false
  ): Stream.Stream<ChatPart, GatewayError> => {
    const { extra, limit, messages, model, temperature } = call
    // Newer models accept only the second.
    const limitField = without.includes("max_tokens") ? "max_completion_tokens" : "max_tokens"
    const all: Values = {
      response_format: responseFormat,
      ...(temperature !== undefined && { temperature }),
      ...(limit !== undefined && { [limitField]: limit })
    }
    const fields: Values = isBare ? {} : Struct.omit(all, without)
    const sent = Object.keys(fields) as Array<Field>
    const { max_tokens: maxTokens, temperature: sentTemperature, ...more } = fields
    let started = false
    return chat
      .chatStream({
        model,
        messages: messages(sent.includes("response_format") ? "schema" : "lines"),
        temperature: sentTemperature,
        maxTokens,
        extra: { ...more, ...extra }
      })
      .pipe(
        Stream.onFirst(() =>
          Effect.sync(() => {
            started = true
            for (const field of without) refused.add(field)
          })
        ),
        Stream.catch((error) => {
          if (started || sent.length === 0 || !isRejected(error)) return Stream.fail(error)
          const named = namedFields(error, sent)
          return attempt(call, [...without, ...named], named.length === 0)
        })
      )
  }

  return (call: FlexibleCall): Stream.Stream<ChatPart, GatewayError> =>
    Stream.suspend(() => attempt(call, [...refused]))
}
