/** A list of tokens as a gateway sends it: one that has not the form of a token costs the others nothing. */
import { Effect, Result, Schema, SchemaIssue } from "effect"
import { HttpClientResponse } from "effect/http"
import { TokenRecord } from "../../contract/Account.ts"
import { envelopeOf, openStruct, optional } from "../../contract/Fields.ts"
import { InvalidResponse } from "../../contract/GatewayError.ts"

/** As `TokensResponse`, its tokens not looked at yet. */
const Answer = envelopeOf(
  Schema.Union([
    Schema.Array(Schema.Json),
    openStruct({ items: Schema.NullOr(Schema.Array(Schema.Json)), total: optional(Schema.Json) }),
    Schema.Null
  ])
)
type Data = Extract<typeof Answer.Type, { readonly data: unknown }>["data"]

export const decodeTokens = HttpClientResponse.schemaBodyJson(Answer)

export interface Listed {
  /** The tokens, without those that are none. */
  readonly items: ReadonlyArray<TokenRecord>
  /** Those that are none: the id, where there is one, and the field at fault. */
  readonly odd: ReadonlyArray<string>
  /** Of all pages, where the gateway says it. */
  readonly total: number
}

const decodeRecord = Schema.decodeUnknownResult(Schema.toCodecJson(TokenRecord))
const decodeId = Schema.decodeUnknownOption(Schema.Struct({ id: Schema.Int }))
const firstIssue = SchemaIssue.makeFormatterStandardSchemaV1()

/** Nothing of its values, which may be a key. */
const oddity = (entry: unknown, { issue }: Schema.SchemaError): string => {
  const id = decodeId(entry)
  const path = (firstIssue(issue).issues[0]?.path ?? []).map((step) =>
    String(typeof step === "object" ? step.key : step)
  )
  const which = id._tag === "Some" ? `token ${id.value.id}` : "a token without an id"
  return path.length === 0 ? which : `${which} (${path.join(".")})`
}

/** The tokens of a list in any of its forms. Where none of them is one, the list is not what it should be. */
export const tokensIn = (data: Data): Effect.Effect<Listed, InvalidResponse> => {
  const page = data === null || isArray(data) ? { items: data } : data
  const entries = page.items ?? []
  const items: Array<TokenRecord> = []
  const odd: Array<string> = []
  for (const entry of entries) {
    const record = decodeRecord(entry)
    if (Result.isSuccess(record)) items.push(record.success)
    else odd.push(oddity(entry, record.failure))
  }
  if (items.length === 0 && odd.length > 0) {
    const message = `None of ${odd.length} tokens has the form of the contract: ${odd.slice(0, TOLD).join(", ")}.`
    return Effect.fail(new InvalidResponse({ message }))
  }
  const total = "total" in page && typeof page.total === "number" ? page.total : 0
  return Effect.succeed({ items, odd, total })
}

/** So many are told one by one. */
const TOLD = 5

const isArray = (data: Data): data is ReadonlyArray<Schema.Json> => Array.isArray(data)

/** The list; that there are odd ones in it is told in the program's log. */
export const telling = (operation: string, listed: Listed): Effect.Effect<Listed> => {
  const { items, odd } = listed
  if (odd.length === 0) return Effect.succeed(listed)
  const some = odd.slice(0, TOLD).join(", ")
  const message = `${odd.length} of ${items.length + odd.length} tokens have not the form of the contract and are left out: ${some}.`
  return Effect.as(Effect.annotateLogs(Effect.logWarning(message), { operation }), listed)
}
