/** Sends a chat without the fields that its model refuses, and remembers them. */
import { Effect, Stream } from "effect"
import type { Extra } from "../contract/Fields.ts"
import type { GatewayError } from "../contract/GatewayError.ts"
import type { ChatCall, ChatPart, Gateway } from "../gateway/Gateway.ts"

type Schemas = Readonly<Record<string, Extra[string]>>

/** The JSON schema of an object whose fields are all required, as strict formats want it. */
export const objectSchema = (properties: Schemas) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false
})

export const responseFormat = (name: string, properties: Schemas): Extra => ({
  type: "json_schema",
  json_schema: { name, strict: true, schema: objectSchema(properties) }
})

/** The optional fields of a reader's request, and how a refusal names them. */
const FIELDS = {
  response_format: /response.?format|json.?schema|structured|guided|grammar/i,
  temperature: /temperature/i,
  max_completion_tokens: /max.?completion.?tokens/i,
  max_tokens: /max.?tokens/i
} as const

type Field = keyof typeof FIELDS

/** The fields to leave out because of an error: those that it names, or else all. */
const refusedFields = (
  { notExecuted, reason }: GatewayError,
  sent: ReadonlyArray<Field>
): ReadonlyArray<Field> => {
  // Sluice's server reports a rejected request of its own as its failure.
  const isRejected =
    reason._tag === "InvalidRequest" ||
    (reason._tag === "ServerFailure" &&
      reason.status === 502 &&
      reason.final === true &&
      notExecuted !== true)
  if (!isRejected) return []
  const about = `${reason._tag === "InvalidRequest" ? (reason.param ?? "") : ""} ${reason.message}`
  const named = sent.filter((field) => FIELDS[field].test(about))
  return named.length > 0 || sent.length === 0 ? named : (Object.keys(FIELDS) as Array<Field>)
}

/** A chat with optional fields. `limit` and `temperature`: undefined leaves them out. */
export interface FlexibleCall extends Pick<ChatCall, "model"> {
  /** With and without a response format. */
  readonly messages: (form: "schema" | "lines") => ChatCall["messages"]
  readonly extra: Extra | undefined
  readonly limit: number | undefined
  readonly temperature: number | undefined
}

/** Sends chats of one model. */
export const makeFlexibleChat = (gateway: Gateway["Service"], responseFormat: Extra) => {
  let refused: ReadonlySet<Field> = new Set()

  const attempt = (
    call: FlexibleCall,
    without: ReadonlySet<Field>
  ): Stream.Stream<ChatPart, GatewayError> => {
    const { extra, limit, messages, model, temperature } = call
    // Newer models refuse the one and have the other.
    const limitField = without.has("max_tokens") ? "max_completion_tokens" : "max_tokens"
    const values: Partial<Record<Field, Extra[string]>> = {
      response_format: responseFormat,
      ...(temperature !== undefined && { temperature }),
      ...(limit !== undefined && { [limitField]: limit })
    }
    const sent = (Object.keys(values) as Array<Field>).filter((field) => !without.has(field))
    const has = (field: Field) => sent.includes(field)
    const more: Extra = {
      ...(has("response_format") && { response_format: responseFormat }),
      ...(has("max_completion_tokens") && limit !== undefined && { max_completion_tokens: limit }),
      ...extra
    }
    let started = false
    return gateway
      .chatStream({
        model,
        messages: messages(has("response_format") ? "schema" : "lines"),
        ...(has("temperature") && temperature !== undefined && { temperature }),
        ...(has("max_tokens") && limit !== undefined && { maxTokens: limit }),
        ...(Object.keys(more).length > 0 && { extra: more })
      })
      .pipe(
        Stream.tap(() =>
          Effect.sync(() => {
            started = true
            refused = without
          })
        ),
        Stream.catch((error) => {
          const fields = started ? [] : refusedFields(error, sent)
          return fields.length === 0 ? Stream.fail(error) : attempt(call, new Set([...without, ...fields]))
        })
      )
  }

  return (call: FlexibleCall): Stream.Stream<ChatPart, GatewayError> =>
    Stream.suspend(() => attempt(call, refused))
}
