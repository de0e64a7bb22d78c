/** A list that is loaded page by page. */
import { signal, type ReadonlySignal, type Signal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { PAGE_SIZE } from "../api/account.ts"
import type { RequestError } from "../api/request.ts"
import { ErrorMessage, Loading } from "../ui/Notices.tsx"
import { tryRequest } from "./calls.ts"
import { Button } from "../ui/Button.tsx"

export interface PagedList<A> {
  /** Undefined until the first page is loaded. */
  readonly rows: Signal<ReadonlyArray<A> | undefined>
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
    tryRequest(error, async () => {
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

interface Props<A> {
  readonly list: PagedList<A>
  readonly row: (of: A) => ComponentChildren
  readonly empty?: string
  readonly more?: string
}

/** The rows of a list, and a button for its next page. */
export const PagedRows = <A,>({ empty, list, more = "Show more", row }: Props<A>) => {
  const rows = list.rows.value
  return (
    <>
      <ErrorMessage error={list.error.value} />
      <Loading until={rows !== undefined || list.error.value !== undefined} />
      {rows?.length === 0 && empty !== undefined && <p class="lead">{empty}</p>}
      <ul>{rows?.map(row)}</ul>
      {list.more.value && <Button onClick={list.showMore}>{more}</Button>}
    </>
  )
}
