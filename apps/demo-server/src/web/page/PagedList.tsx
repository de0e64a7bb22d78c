/** A list that is loaded page by page. */
import { signal } from "@preact/signals"
import type { JSX } from "preact"
import { useId, useState } from "preact/hooks"
import { requestData, type RequestError } from "../api/request.ts"
import { Button, NewSecret } from "../ui/Button.tsx"
import { ErrorMessage, LoadState } from "../ui/Notices.tsx"
import { type Changes, tryRequest } from "./calls.ts"

type HasId = { readonly id: string | number }

type PagedList<A extends HasId> = ReturnType<typeof makePagedList<A>>

/** Rows per page. A shorter page is the last. */
const PAGE_SIZE = 50

/** A list under `/api`. */
export const makePagedList = <A extends HasId>(path: string) => {
  const load = (page: number) => requestData<ReadonlyArray<A>>("GET", `${path}?num=${PAGE_SIZE}&p=${page}`)
  /** Undefined until the first page is loaded. */
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
    /** Loads the first page, or all pages shown. Never rejects. */
    refresh: () => loadPages(0, Math.max(1, Math.ceil((rows.value?.length ?? 0) / PAGE_SIZE)), []),
    showMore: () => {
      const shown = rows.value ?? []
      return loadPages(Math.floor(shown.length / PAGE_SIZE), 1, shown)
    }
  }
}

interface RowsProps<A extends HasId> {
  readonly list: PagedList<A>
  readonly Row: (props: { readonly of: A }) => JSX.Element
  readonly empty?: string
  readonly more?: string
}

export const PagedRows = <A extends HasId>(props: RowsProps<A>) => {
  const { empty, list, more = "Show more", Row } = props
  const rows = list.rows.value
  return (
    <>
      <LoadState error={list.error.value} loaded={rows !== undefined} />
      {rows?.length === 0 && empty !== undefined && <p class="lead">{empty}</p>}
      <ul class="lines closed">
        {rows?.map((each) => (
          <Row key={each.id} of={each} />
        ))}
      </ul>
      {list.more.value && <Button onClick={list.showMore}>{more}</Button>}
    </>
  )
}

interface EditableProps<A extends HasId> extends RowsProps<A> {
  readonly title: string
  readonly add: string
  readonly Form: (props: { readonly onDone: () => void }) => JSX.Element
  readonly changes: Changes
}

export const EditableList = <A extends HasId>(props: EditableProps<A>) => {
  const { add, changes, Form, title } = props
  const [creating, setCreating] = useState(false)
  const id = useId()
  return (
    <section class="stack loose keys-list" aria-labelledby={id}>
      <header class="row">
        <h2 id={id}>{title}</h2>
        <Button aria-expanded={creating} onClick={() => setCreating(!creating)}>
          {add}
        </Button>
      </header>
      <NewSecret of={changes.secret} />
      {creating && <Form onDone={() => setCreating(false)} />}
      <ErrorMessage error={changes.error.value} />
      <PagedRows {...props} />
    </section>
  )
}
