/** Where documents are: a folder, an object store, or LanceDB Enterprise. */
import type { StoreOptions } from "@sluice/rag/store"
import type { ServerConfig } from "./ServerConfig.ts"

type Settings = Pick<ServerConfig["Service"], "enterprise">

/** Whether documents are on an object store or LanceDB Enterprise. */
export const isStoreAddress = (documents: string): boolean => documents.includes("://")

/** How the store of documents is reached. */
export const storeOptions = ({ enterprise: { apiKey, hostOverride, region } }: Settings): StoreOptions => ({
  ...(apiKey && { apiKey }),
  ...(region !== undefined && { region }),
  ...(hostOverride !== undefined && { hostOverride })
})
