/** The collections, and the one that the page works on. */
import { effect, signal } from "@preact/signals"
import type { CollectionInfo } from "../../contract/index.ts"
import { toFailure, type Failure } from "../api/RequestError.ts"
import { request } from "../api/request.ts"
import { announce } from "../ui/announce.ts"
import { DEFAULT_COLLECTION } from "../api/collectionPath.ts"
import { route } from "../page/route.ts"
import { session } from "../page/session.ts"

const KEY = "sluice-collection"

const stored = (): string => {
  try {
    return localStorage.getItem(KEY) ?? DEFAULT_COLLECTION
  } catch {
    return DEFAULT_COLLECTION // storage may be forbidden
  }
}

export const collections = signal<ReadonlyArray<CollectionInfo> | undefined>(undefined)

/** Where is added, shown and asked. Remembered in this browser. */
export const collection = signal(stored())

/** What could not be done to a collection, and why. */
export const collectionFailure = signal<Failure | undefined>(undefined)

export const chooseCollection = (name: string): void => {
  collection.value = name
  collectionFailure.value = undefined
  try {
    localStorage.setItem(KEY, name)
  } catch {
    // it then lasts for this visit
  }
}

export const refreshCollections = async (): Promise<void> => {
  try {
    const listed = await request<{ collections: Array<CollectionInfo> }>("GET", "/collections")
    collections.value = listed.collections
    if (collectionFailure.value?.code === "offline") collectionFailure.value = undefined
  } catch (thrown) {
    collectionFailure.value = toFailure(thrown)
    return
  }
  // Another tab, or another user of this browser, may have had it.
  if (!collections.value.some(({ name }) => name === collection.value)) chooseCollection(DEFAULT_COLLECTION)
}

const pathOf = (name: string): string => `/collections/${encodeURIComponent(name)}`

/** Makes one, or finds it, and works on it. Whether it is there. */
export const makeCollection = async (name: string): Promise<boolean> => {
  collectionFailure.value = undefined
  try {
    await request<CollectionInfo>("PUT", pathOf(name))
    await refreshCollections()
    chooseCollection(name)
    announce(`The collection ${name} is chosen.`)
    return true
  } catch (thrown) {
    collectionFailure.value = toFailure(thrown)
    return false
  }
}

/** Removes one with all that is in it, and works on the default one. */
export const removeCollection = async (name: string): Promise<void> => {
  collectionFailure.value = undefined
  try {
    await request("DELETE", pathOf(name))
    chooseCollection(DEFAULT_COLLECTION)
    announce(`The collection ${name} was deleted.`)
  } catch (thrown) {
    collectionFailure.value = toFailure(thrown)
  }
  await refreshCollections()
}

// A link to a question is a link to where it was asked.
effect(() => {
  const now = route.value
  if (now.view === "ask" && now.question !== undefined) chooseCollection(now.collection)
})
effect(() => {
  if (session.value !== "open") collections.value = undefined
})
