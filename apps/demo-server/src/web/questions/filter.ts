/** What questions are answered from: all documents, or some of them; all kinds of passages, or some. */
import { computed, signal } from "@preact/signals"
import type { ShortFilter } from "../../contract/index.ts"
import { counted } from "../ui/counted.ts"
import { collection } from "../documents/collections.ts"
import { documents } from "../documents/documents.ts"

export type Kind = NonNullable<ShortFilter["kinds"]>[number]

/** In the order in which they are offered. */
export const KINDS: ReadonlyArray<readonly [kind: Kind, name: string]> = [
  ["passage", "Text"],
  ["figure", "Figures"],
  ["table", "Tables"]
]

const NONE: ReadonlySet<string> = new Set()
const chosen = signal({ of: "", ids: NONE })
/** Identifiers of the documents chosen; empty: all. Lasts for the visit, or until another collection is chosen. */
export const chosenDocuments = computed(() =>
  chosen.value.of === collection.value ? chosen.value.ids : NONE
)
/** Empty: all. */
export const chosenKinds = signal<ReadonlySet<Kind>>(new Set())

const toggled = <A>(set: ReadonlySet<A>, one: A): ReadonlySet<A> => {
  const next = new Set(set)
  if (!next.delete(one)) next.add(one)
  return next
}

export const toggleDocument = (id: string): void => {
  chosen.value = { of: collection.value, ids: toggled(chosenDocuments.value, id) }
}
export const toggleKind = (kind: Kind): void => {
  chosenKinds.value = toggled(chosenKinds.value, kind)
}
export const takeAll = (): void => {
  chosen.value = { of: collection.value, ids: NONE }
  chosenKinds.value = new Set()
}

/** Those that are there still. */
const present = computed(() => (documents.value ?? []).filter(({ id }) => chosenDocuments.value.has(id)))

/** All of one kind and none are the same. */
const kinds = computed(() => {
  const chosen = KINDS.filter(([kind]) => chosenKinds.value.has(kind))
  return chosen.length === KINDS.length ? [] : chosen
})

/** As the server takes it; undefined: no filter. */
export const wireFilter = computed((): ShortFilter | undefined => {
  const ids = present.value.map(({ id }) => id)
  const only = kinds.value.map(([kind]) => kind)
  if (ids.length === 0 && only.length === 0) return undefined
  return { ...(ids.length > 0 && { documents: ids }), ...(only.length > 0 && { kinds: only }) }
})

/** `The handbook · Figures, tables`. */
export const inWords = computed((): string => {
  const [first, ...others] = present.value
  const where =
    first === undefined
      ? "All documents"
      : others.length === 0
        ? first.title
        : counted(others.length + 1, "document")
  const what = kinds.value.map(([, name], at) => (at === 0 ? name : name.toLowerCase())).join(", ")
  return what === "" ? where : `${where} · ${what}`
})
