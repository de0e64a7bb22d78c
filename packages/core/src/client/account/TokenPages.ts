/** The pages of a list whose gateway may count from 0 or from 1, give fewer than it is asked for, or know no pages. */
import { Option } from "effect"
import type { TokenRecord } from "../../contract/Account.ts"
import type { Listed } from "./TokenList.ts"

/** Tokens asked for at once: what the strictest of the family allow. */
export const PAGE = 100

/** No gateway that does not say how many there are gives fewer of many: so short a first page is the whole list. */
const SMALLEST_PAGE = 10

/** What is known after a page. */
export type TokenPage =
  | {
      /** The number of the page to ask for. */
      readonly next: number
      /** Entries of a page that is not the last. */
      readonly size: number
      readonly seen: ReadonlySet<number>
      /** Entries that are no tokens. */
      readonly odd: number
    }
  | undefined

/**
 * What a page brings that was not there before, and what is to be asked for after it.
 *
 * **Details.** The first page is asked for without a number. Where gateways count from 1, page 1 is the first one again:
 * that it brings nothing new ends the list only if page 2 brings nothing either. A short page ends it too, unless the
 * gateway says that there are more. A total of fewer ends nothing: some count the page.
 */
export const nextPage = (
  last: TokenPage,
  { items, odd: left, total }: Listed
): { readonly fresh: ReadonlyArray<TokenRecord>; readonly page: Option.Option<TokenPage> } => {
  const entries = items.length + left.length
  const odd = (last?.odd ?? 0) + left.length
  const seen = new Set(last?.seen)
  const fresh = items.filter(({ id }) => !seen.has(id) && seen.add(id))
  const size = last?.size ?? Math.max(SMALLEST_PAGE, Math.min(entries, PAGE))
  const next = (last?.next ?? 0) + 1
  const short = entries < size && seen.size + odd >= total
  const ends = short || (fresh.length === 0 && next > 2)
  return { fresh, page: ends ? Option.none() : Option.some({ next, size, seen, odd }) }
}
