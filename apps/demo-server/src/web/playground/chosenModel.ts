/** The model that each tab of the playground uses. */
import { computed, effect, untracked } from "@preact/signals"
import type { ListedModel } from "../api/gateway.ts"
import { modelsFor } from "../models/models.ts"
import { persisted } from "../page/persisted.ts"
import { route, type Capability } from "../page/route.ts"
import { status } from "../page/status.ts"

/** The operation that a tab needs of a model. */
export const OPERATION_OF: Record<Capability, string> = {
  embed: "embeddings",
  rerank: "rerank",
  chat: "chat",
  image: "images",
  video: "videos",
  look: "chat"
}

const chosen = persisted<Partial<Record<Capability, string>>>("models", {})

export const chooseModel = (capability: Capability, model: string): void => {
  chosen.value = { ...chosen.value, [capability]: model }
}

// A link in the list of models chooses.
effect(() => {
  const now = route.value
  if (now.view !== "playground" || now.model === undefined) return
  const { capability, model } = now
  untracked(() => chooseModel(capability, model))
})

/** For chat the server's reader; for images another chat model, which may see. */
const defaultModel = (capability: Capability): ListedModel | undefined => {
  const all = modelsFor(OPERATION_OF[capability])
  const reader = status.value?.models.chat
  const preferred =
    capability === "chat"
      ? all.find(({ id }) => id === reader)
      : capability === "look"
        ? all.find(({ id }) => id !== reader)
        : undefined
  return preferred ?? all[0]
}

/** The model's identifier; empty until the list is loaded. */
export const modelOf = (capability: Capability): string =>
  chosen.value[capability] ?? defaultModel(capability)?.id ?? ""

/** The model's entry in the list. */
export const modelDetails = (capability: Capability) =>
  computed(() => {
    const id = modelOf(capability)
    return modelsFor(OPERATION_OF[capability]).find((model) => model.id === id)
  })
