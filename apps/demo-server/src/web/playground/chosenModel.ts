/** Which model each capability is tried with. */
import { computed, effect, untracked } from "@preact/signals"
import type { Model } from "../api/gateway.ts"
import { kept } from "../page/persisted.ts"
import { modelsFor } from "../models/models.ts"
import { route, type Capability } from "../page/route.ts"
import { status } from "../page/status.ts"

/** What a capability asks of a model. */
export const OPERATIONS: Record<Capability, string> = {
  embed: "embeddings",
  rerank: "rerank",
  chat: "chat",
  image: "images",
  video: "videos",
  look: "chat"
}

const chosen = kept<Partial<Record<Capability, string>>>("models", {})

export const choose = (capability: Capability, model: string): void => {
  chosen.value = { ...chosen.value, [capability]: model }
}

// A link of the list of models chooses.
effect(() => {
  const now = route.value
  if (now.view !== "playground" || now.model === undefined) return
  const { capability, model } = now
  untracked(() => choose(capability, model))
})

/** The server reads its documents by one model for chat; of the others one may see. */
const usual = (capability: Capability): Model | undefined => {
  const all = modelsFor(OPERATIONS[capability])
  const reader = status.value?.models.chat
  if (capability === "chat") return all.find(({ id }) => id === reader) ?? all[0]
  if (capability === "look") return all.find(({ id }) => id !== reader) ?? all[0]
  return all[0]
}

/** The model to try it with; an empty name until it is known. */
export const modelOf = (capability: Capability): string =>
  chosen.value[capability] ?? usual(capability)?.id ?? ""

/** What is known of it. */
export const aboutModel = (capability: Capability) =>
  computed(() => {
    const id = modelOf(capability)
    return modelsFor(OPERATIONS[capability]).find((model) => model.id === id)
  })
