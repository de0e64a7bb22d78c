/** The models that this server serves, and those of the account behind it. */
import { signal } from "@preact/signals"
import type { ListedModel } from "../api/gateway.ts"
import { request, type RequestError, toRequestError } from "../api/request.ts"
import type { Capability } from "../page/route.ts"
import { whileShown } from "../page/session.ts"

export const modelList = signal<ReadonlyArray<ListedModel>>()
export const modelsError = signal<RequestError>()

/** The operations of models, and the titles of their sections. */
export const OPERATION_TITLES: Readonly<Record<string, string>> = {
  embeddings: "Embeddings",
  rerank: "Rerank",
  chat: "Chat",
  images: "Images",
  videos: "Videos"
}

/** The operation that each tab of the playground needs of a model. */
export const OPERATION_OF: Readonly<Record<Capability, string>> = {
  embed: "embeddings",
  rerank: "rerank",
  chat: "chat",
  image: "images",
  video: "videos",
  look: "chat"
}

const refreshModels = async (): Promise<void> => {
  const lists = await Promise.allSettled(
    ["/v1/models", "/api/models"].map((path) => request<{ data: Array<ListedModel> }>("GET", path))
  )
  const errors = lists.flatMap((list) => (list.status === "rejected" ? toRequestError(list.reason) : []))
  // The account's list is refused with 403 to who signed in with an API key: the server's list is enough then.
  modelsError.value = errors.find(({ status }) => status !== 403)
  if (errors.length === 2) return
  // In the server's order. Its entries say more of a model, so they replace the account's.
  const [own = [], others = []] = lists.map((list) => (list.status === "fulfilled" ? list.value.data : []))
  modelList.value = [...new Map([...own, ...others, ...own].map((model) => [model.id, model])).values()]
}

/** Models for an operation; without any, those that name no operation. */
export const modelsFor = (operation: string): ReadonlyArray<ListedModel> => {
  const all = modelList.value ?? []
  const matching = all.filter((model) => model.operation === operation)
  return matching.length > 0 ? matching : all.filter((model) => model.operation === undefined)
}

whileShown(["models", "playground"], refreshModels)
