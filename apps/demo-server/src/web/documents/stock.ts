/** How much there is in a collection. */
import { DEFAULT_COLLECTION } from "../api/collectionPath.ts"
import { collections } from "./collections.ts"
import { status } from "../page/status.ts"

/** What is not known yet is absent. */
export const stockOf = (collection: string): { readonly documents?: number; readonly passages?: number } =>
  (collection === DEFAULT_COLLECTION
    ? status.value
    : collections.value?.find(({ name }) => name === collection)) ?? {}
