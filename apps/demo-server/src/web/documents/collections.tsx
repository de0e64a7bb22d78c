/** The collections, and the chosen one. */
import { computed, effect, signal } from "@preact/signals"
import { useId } from "preact/hooks"
import { DEFAULT_COLLECTION, parseReference } from "../../contract/Names.ts"
import type { CollectionInfo } from "../../contract/index.ts"
import { request, type RequestError } from "../api/request.ts"
import { tryRequest } from "../page/calls.ts"
import { browserSetting } from "../page/persisted.ts"
import { currentRoute } from "../page/route.ts"
import { session } from "../page/session.ts"
import { status } from "../page/status.ts"
import { Select } from "../ui/Fields.tsx"
import { announce } from "../ui/Notices.tsx"

export const collections = signal<ReadonlyArray<CollectionInfo>>()

/** The collection that is shown, added to and searched. Remembered in this browser. */
export const collection = browserSetting("sluice-collection", DEFAULT_COLLECTION)

export const collectionError = signal<RequestError>()

const infoOf = (name: string): CollectionInfo | undefined =>
  collections.value?.find((each) => each.name === name)

/** The chosen collection, once the collections are known. */
export const chosenCollection = computed(() => infoOf(collection.value))

/** Whether the user may add and remove documents. */
export const isWritable = computed(() => chosenCollection.value?.shared?.access !== "read")

/** `harbour`, or `harbour (shared by Ann)`. */
const labelOf = (name: string): string => {
  const shared = infoOf(name)?.shared
  return shared === undefined ? name : `${parseReference(name).name} (shared by ${shared.owner})`
}

/** Documents and passages of the chosen collection; undefined until they are known. */
export const collectionSize = computed(
  (): { readonly documents?: number; readonly passages?: number } =>
    (collection.value === DEFAULT_COLLECTION ? status.value : chosenCollection.value) ?? {}
)

const chooseCollection = (name: string): void => {
  collection.value = name
  collectionError.value = undefined
}

export const refreshCollections = async (): Promise<void> => {
  const before = collectionError.value
  const loaded = await tryRequest(collectionError, async () => {
    const listed = await request<{ collections: Array<CollectionInfo> }>("GET", "/collections")
    collections.value = listed.collections
  })
  if (!loaded) return
  if (before?.code !== "offline") collectionError.value = before
  // Another tab may have deleted it, or it is of another user of this browser.
  if (!collections.value?.some(({ name }) => name === collection.value)) chooseCollection(DEFAULT_COLLECTION)
}

export const pathOf = (name: string): string => `/collections/${encodeURIComponent(name)}`

/** Creates a collection, if there is none of that name, and chooses it. Resolves to whether it exists. */
export const createCollection = (name: string): Promise<boolean> =>
  tryRequest(collectionError, async () => {
    await request<CollectionInfo>("PUT", pathOf(name))
    await refreshCollections()
    chooseCollection(name)
    announce(`The collection ${name} is chosen.`)
  })

/** Deletes a collection with its documents, and chooses the default one. */
export const deleteCollection = async (name: string): Promise<void> => {
  await tryRequest(collectionError, async () => {
    await request("DELETE", pathOf(name))
    chooseCollection(DEFAULT_COLLECTION)
    announce(`The collection ${name} was deleted.`)
  })
  await refreshCollections()
}

// A link to a question chooses its collection.
effect(() => {
  const now = currentRoute.value
  if (now.view === "ask" && now.question !== undefined) chooseCollection(now.collection)
})
effect(() => {
  if (session.value !== "open") collections.value = undefined
})

export const CollectionChoice = () => {
  const id = useId()
  const all = collections.value ?? []
  if (all.length < 2) return null
  return (
    <div class="row unbroken near collection-choice quiet screen-only">
      <label htmlFor={id}>Collection</label>
      <Select
        id={id}
        value={collection.value}
        values={new Map(all.map(({ name }) => [name, labelOf(name)]))}
        onValue={chooseCollection}
      />
    </div>
  )
}
