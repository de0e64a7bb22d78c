/** Which documents and kinds of passages a question is answered from. */
import { computed, signal } from "@preact/signals"
import type { ShortFilter } from "../../contract/index.ts"
import { collection } from "../documents/collections.tsx"
import { documents } from "../documents/documents.ts"
import { pluralize } from "../ui/format.ts"

type PassageKind = NonNullable<ShortFilter["kinds"]>[number]

export const KIND_NAMES: Readonly<Record<PassageKind, string>> = {
  passage: "Text",
  figure: "Figures",
  table: "Tables"
}
export const KIND_LIST = Object.keys(KIND_NAMES) as ReadonlyArray<PassageKind>

const NONE: ReadonlySet<string> = new Set()
const chosen = signal({ of: "", ids: NONE })

/** Identifiers; empty: all documents. Kept until another collection is chosen. */
export const chosenDocuments = computed(() =>
  chosen.value.of === collection.value ? chosen.value.ids : NONE
)
/** Empty: all kinds. */
export const chosenKinds = signal<ReadonlySet<PassageKind>>(new Set())

const toggled = <A>(set: ReadonlySet<A>, one: A): ReadonlySet<A> => {
  const next = new Set(set)
  if (!next.delete(one)) next.add(one)
  return next
}

export const toggleDocument = (id: string): void => {
  chosen.value = { of: collection.value, ids: toggled(chosenDocuments.value, id) }
}
export const toggleKind = (kind: PassageKind): void => {
  chosenKinds.value = toggled(chosenKinds.value, kind)
}
export const clearFilter = (): void => {
  chosen.value = { of: collection.value, ids: NONE }
  chosenKinds.value = new Set()
}

/** Chosen documents that still exist. */
const existing = computed(() => (documents.value ?? []).filter(({ id }) => chosenDocuments.value.has(id)))

/** All kinds are the same as none. */
const kinds = computed(() =>
  chosenKinds.value.size === KIND_LIST.length ? [] : KIND_LIST.filter((kind) => chosenKinds.value.has(kind))
)

/** As it is sent; undefined: no filter. */
export const requestFilter = computed((): ShortFilter | undefined => {
  const ids = existing.value.map(({ id }) => id)
  if (ids.length === 0 && kinds.value.length === 0) return undefined
  return { ...(ids.length > 0 && { documents: ids }), ...(kinds.value.length > 0 && { kinds: kinds.value }) }
})

/** `The handbook · Figures, tables`. */
export const chosenFilterText = computed((): string => {
  const [first, second] = existing.value
  const many = second === undefined ? first?.title : pluralize(existing.value.length, "document")
  const where = many ?? "All documents"
  const what = kinds.value.map((kind) => KIND_NAMES[kind]).join(", ")
  return what === "" ? where : `${where} · ${what.charAt(0)}${what.slice(1).toLowerCase()}`
})
