/** A list that comes page by page. */
import { signal, type ReadonlySignal } from "@preact/signals"
import { toFailure, type Failure } from "../api/RequestError.ts"

export interface Paged<A> {
  /** Absent until the first page is there. */
  readonly rows: ReadonlySignal<ReadonlyArray<A> | undefined>
  /** Whether there may be more. */
  readonly more: ReadonlySignal<boolean>
  readonly failure: ReadonlySignal<Failure | undefined>
  /** From the start, or as many pages as were shown. Never rejects. */
  readonly refresh: () => Promise<void>
  readonly showMore: () => Promise<void>
}

/** `load` gives a page, counted from 0, of `size` rows or fewer. */
export const makePaged = <A extends { readonly id: unknown }>(
  load: (page: number) => Promise<ReadonlyArray<A>>,
  size: number
): Paged<A> => {
  const rows = signal<ReadonlyArray<A> | undefined>(undefined)
  const more = signal(false)
  const failure = signal<Failure | undefined>(undefined)
  const take = async (pages: ReadonlyArray<number>, before: ReadonlyArray<A>) => {
    try {
      const lists = await Promise.all(pages.map(load))
      const known = new Set(before.map(({ id }) => id))
      rows.value = [...before, ...lists.flat().filter(({ id }) => !known.has(id))]
      more.value = lists.at(-1)?.length === size
      failure.value = undefined
    } catch (thrown) {
      failure.value = toFailure(thrown)
    }
  }
  return {
    rows,
    more,
    failure,
    refresh: () => {
      const pages = Math.max(1, Math.ceil((rows.value?.length ?? 0) / size))
      return take(
        Array.from({ length: pages }, (_, page) => page),
        []
      )
    },
    showMore: () => {
      const shown = rows.value ?? []
      return take([Math.floor(shown.length / size)], shown)
    }
  }
}
