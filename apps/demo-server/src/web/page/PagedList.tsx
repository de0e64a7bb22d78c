/** A list that is loaded page by page. */
import { signal, type ReadonlySignal, type Signal } from "@preact/signals"
import type { JSX } from "preact"
import { useId, useState } from "preact/hooks"
import { PAGE_SIZE } from "../api/account.ts"
import type { RequestError } from "../api/request.ts"
import { Button, NewSecret, type Secret } from "../ui/Button.tsx"
import { ErrorMessage, Loading } from "../ui/Notices.tsx"
import { tryRequest } from "./calls.ts"

export interface PagedList<A> {
  /** Undefined until the first page is loaded. */
  readonly rows: ReadonlySignal<ReadonlyArray<A> | undefined>
  readonly more: ReadonlySignal<boolean>
  readonly error: ReadonlySignal<RequestError | undefined>
  /** Loads the first page, or all pages shown. Never rejects. */
  readonly refresh: () => Promise<unknown>
  readonly showMore: () => Promise<unknown>
}

/** `load` takes a page number, from 0. A page shorter than `PAGE_SIZE` is the last. */
export const makePagedList = <A extends { readonly id: string | number }>(
  load: (page: number) => Promise<ReadonlyArray<A>>
): PagedList<A> => {
  const rows = signal<ReadonlyArray<A>>()
  const more = signal(false)
  const error = signal<RequestError>()
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

interface RowsProps<A> {
  readonly list: PagedList<A>
  readonly Row: (props: { readonly of: A }) => JSX.Element
  readonly empty?: string
  readonly more?: string
}

/** The rows of a list, and a button for its next page. */
export const PagedRows = <A extends { readonly id: string | number }>(props: RowsProps<A>) => {
  const { empty, list, more = "Show more", Row } = props
  const rows = list.rows.value
  return (
    <>
      <ErrorMessage error={list.error.value} />
      <Loading until={rows !== undefined || list.error.value !== undefined} />
      {rows?.length === 0 && empty !== undefined && <p class="lead">{empty}</p>}
      <ul>
        {rows?.map((each) => (
          <Row key={each.id} of={each} />
        ))}
      </ul>
      {list.more.value && <Button onClick={list.showMore}>{more}</Button>}
    </>
  )
}

interface EditableProps<A> extends RowsProps<A> {
  readonly title: string
  /** Such as `New key`. */
  readonly add: string
  readonly Form: (props: { readonly onDone: () => void }) => JSX.Element
  /** The secret of a new row. */
  readonly secret: Signal<Secret | undefined>
  readonly changeError: ReadonlySignal<RequestError | undefined>
}

/** A list to which rows can be added. */
export const EditableList = <A extends { readonly id: string | number }>(props: EditableProps<A>) => {
  const { add, changeError, Form, secret, title } = props
  const [creating, setCreating] = useState(false)
  const id = useId()
  return (
    <section class="keys-list" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        <Button aria-expanded={creating} onClick={() => setCreating(!creating)}>
          {add}
        </Button>
      </header>
      <NewSecret of={secret} />
      {creating && <Form onDone={() => setCreating(false)} />}
      <ErrorMessage error={changeError.value} />
      <PagedRows {...props} />
    </section>
  )
}
