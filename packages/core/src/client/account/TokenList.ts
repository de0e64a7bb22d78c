/** Lists of tokens: invalid entries are skipped, and pages are numbered from 0 or from 1, shorter than requested, or missing. */
import { Effect, Option, Result, Schema, Stream } from "effect"
import { HttpClientResponse } from "effect/http"
import { TokenRecord } from "../../contract/Account.ts"
import { envelopeOf, faultsOf, openStruct, optional } from "../../contract/Fields.ts"
import { type GatewayError, InvalidResponse } from "../../contract/GatewayError.ts"
import { tolerateRecord } from "../../tolerance/Account.ts"

/** `TokensResponse` with entries that are not yet decoded. */
const ListResponse = envelopeOf(
  Schema.Union([
    Schema.Array(Schema.Json),
    openStruct({ items: Schema.NullOr(Schema.Array(Schema.Json)), total: optional(Schema.Json) }),
    Schema.Null
  ])
)
type Data = Extract<typeof ListResponse.Type, { readonly data: unknown }>["data"]

export const decodeTokens = HttpClientResponse.schemaBodyJson(ListResponse)

/** One page of a list. */
export interface TokenListPage {
  /** The valid entries. */
  readonly items: ReadonlyArray<TokenRecord>
  /** The invalid entries: the id, if there is one, and the first invalid field. */
  readonly skipped: ReadonlyArray<string>
  /** The number of tokens on all pages; 0 if the gateway does not state it. */
  readonly total: number
}

const decodeRecord = Schema.decodeUnknownResult(Schema.toCodecJson(TokenRecord))
const decodeId = Schema.decodeUnknownOption(Schema.Struct({ id: Schema.Int }))

/** Names the entry without its values, which may include a key. */
const describeInvalid = (entry: unknown, { issue }: Schema.SchemaError): string => {
  const id = decodeId(entry)
  const [{ path } = { path: "" }] = faultsOf(issue)
  const which = id._tag === "Some" ? `token ${id.value.id}` : "a token without an id"
  return path === "" ? which : `${which} (${path})`
}

const isArray = (data: Data): data is ReadonlyArray<Schema.Json> => Array.isArray(data)

/** The most invalid entries that a message names. */
const NAMED = 5

/** The tokens of a list. Fails if all entries are invalid. */
export const parseTokens = (data: Data): Effect.Effect<TokenListPage, InvalidResponse> => {
  const page = data === null || isArray(data) ? { items: data } : data
  const items: Array<TokenRecord> = []
  const skipped: Array<string> = []
  for (const sent of page.items ?? []) {
    const entry = tolerateRecord(sent)
    const record = decodeRecord(entry)
    if (Result.isSuccess(record)) items.push(record.success)
    else skipped.push(describeInvalid(entry, record.failure))
  }
  if (items.length === 0 && skipped.length > 0) {
    const message = `None of the ${skipped.length} tokens matches the contract: ${skipped.slice(0, NAMED).join(", ")}.`
    return Effect.fail(new InvalidResponse({ message }))
  }
  const total = "total" in page && typeof page.total === "number" ? page.total : 0
  return Effect.succeed({ items, skipped, total })
}

/** Logs a warning that names the skipped entries, if there are any. */
export const logSkipped = (operation: string, { items, skipped }: TokenListPage): Effect.Effect<void> => {
  if (skipped.length === 0) return Effect.void
  const some = skipped.slice(0, NAMED).join(", ")
  const message = `${skipped.length} of ${items.length + skipped.length} tokens do not match the contract and are skipped: ${some}.`
  return Effect.annotateLogs(Effect.logWarning(message), { operation })
}

/** A shorter first page is complete, unless the gateway states a total: no known gateway has smaller pages. */
const SMALLEST_PAGE = 10

/** What is known after some pages; undefined before the first. */
type Cursor =
  | {
      /** The number of the next page. */
      readonly next: number
      /** Entries on a page that is not the last. */
      readonly size: number
      readonly seen: ReadonlySet<number>
      /** Skipped entries so far. */
      readonly skipped: number
    }
  | undefined

/**
 * The new tokens of a page, and the cursor after it.
 *
 * **Details.** The first page is requested without a number. Where pages count from 1, page 1 is the first one again, so
 * a page without new tokens ends the list only from page 2 on. A page shorter than the first ends it too, unless the
 * stated total is higher. A lower total is ignored: some gateways state the size of the page.
 */
const nextPage = (last: Cursor, page: TokenListPage, pageSize: number) => {
  const entries = page.items.length + page.skipped.length
  const skipped = (last?.skipped ?? 0) + page.skipped.length
  const seen = new Set(last?.seen)
  const fresh = page.items.filter(({ id }) => !seen.has(id) && seen.add(id))
  const size = last?.size ?? Math.max(SMALLEST_PAGE, Math.min(entries, pageSize))
  const next = (last?.next ?? 0) + 1
  const isShort = entries < size && seen.size + skipped >= page.total
  const isLast = isShort || (fresh.length === 0 && next > 2)
  return [fresh, isLast ? Option.none<Cursor>() : Option.some<Cursor>({ next, size, seen, skipped })] as const
}

/** All tokens, page by page, each once. */
export const listTokens = (
  page: (number: number | undefined) => Effect.Effect<TokenListPage, GatewayError>,
  pageSize: number
): Stream.Stream<TokenRecord, GatewayError> =>
  Stream.paginate<Cursor, TokenRecord, GatewayError>(undefined, (last) =>
    Effect.map(page(last?.next), (found) => nextPage(last, found, pageSize))
  )
