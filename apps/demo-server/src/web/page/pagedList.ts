/** A list that is loaded page by page. */
import { signal, type ReadonlySignal, type Signal } from "@preact/signals"
import { PAGE_SIZE } from "../api/account.ts"
import type { RequestError } from "../api/RequestError.ts"
import { attempt } from "./calls.ts"

export interface PagedList<A> {
  /** Undefined until the first page is loaded. */
  readonly rows: Signal<ReadonlyArray<A> | undefined>
  /** Whether there may be more pages. */
  readonly more: ReadonlySignal<boolean>
  readonly error: ReadonlySignal<RequestError | undefined>
  /** Loads the first page, or all pages shown. Never rejects. */
  readonly refresh: () => Promise<unknown>
  readonly showMore: () => Promise<unknown>
}

/** `load` takes a page number, from 0. A page shorter than `PAGE_SIZE` is the last. */
export const makePagedList = <A extends { readonly id: unknown }>(
  load: (page: number) => Promise<ReadonlyArray<A>>
): PagedList<A> => {
  const rows = signal<ReadonlyArray<A> | undefined>(undefined)
  const more = signal(false)
  const error = signal<RequestError | undefined>(undefined)
  const loadPages = (first: number, count: number, before: ReadonlyArray<A>) =>
    attempt(error, async () => {
      const pages = await Promise.all(Array.from({ length: count }, (_, at) => load(first + at)))
      const known = new Set(before.map(({ id }) => id))
      rows.value = [...before, ...pages.flat().filter(({ id }) => !known.has(id))]
      more.value = pages.at(-1)?.length === PAGE_SIZE
    })
  return {
    rows,
    more,
    error,
    refresh: () => loadPages(0, Math.max(1, Math.ceil((rows.value?.length ?? 0) / PAGE_SIZE)), []),
    showMore: () => {
      const shown = rows.value ?? []
      return loadPages(Math.floor(shown.length / PAGE_SIZE), 1, shown)
    }
  }
}
