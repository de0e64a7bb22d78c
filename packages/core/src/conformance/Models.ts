/** Which models are called. */
import { Effect } from "effect"
import type { HttpClient } from "effect/http"
import type { Answer, Request, Unanswered } from "./Ask.ts"
import { at, listAt } from "./Json.ts"
import type { Purpose, Session } from "./Session.ts"

/** What the id of a model for a purpose has in it, where nobody names one. */
const WORDS: Readonly<Partial<Record<Purpose, RegExp>>> = {
  embedding: /embed/i,
  rerank: /rerank/i,
  chat: /chat|vision/i,
  image: /image/i,
  video: /video/i
}

const FLAGS: Readonly<Record<Purpose, string>> = {
  embedding: "--embedding-model",
  rerank: "--rerank-model",
  chat: "--chat-model",
  image: "--image-model",
  twoStepImage: "--two-step-image-model",
  video: "--video-model"
}

const PURPOSES = Object.keys(FLAGS) as ReadonlyArray<Purpose>

const idsOf = ({ json }: Answer): ReadonlyArray<string> =>
  listAt(json, "data")
    .map((entry) => (typeof entry === "string" ? entry : at(entry, "id")))
    .filter((id) => typeof id === "string")

/**
 * The models named; for each purpose without one, the first of the lists that has its word in the id.
 *
 * `lists` are asked one after the other until nothing is missing; one that fails is passed over.
 */
export const chooseModels = Effect.fnUntraced(function* (
  named: NonNullable<Session["options"]["models"]>,
  lists: ReadonlyArray<Effect.Effect<Answer, Unanswered, HttpClient.HttpClient>>
) {
  const models: Session["models"] = {}
  const missing = () => PURPOSES.filter((purpose) => purpose in WORDS && models[purpose] === undefined)
  for (const purpose of PURPOSES) {
    const name = named[purpose]
    if (name !== undefined) models[purpose] = name
  }
  for (const list of lists) {
    if (missing().length === 0) break
    const ids = yield* Effect.orElseSucceed(Effect.map(list, idsOf), () => [])
    for (const purpose of missing()) {
      const found = ids.find((id) => WORDS[purpose]?.test(id))
      if (found !== undefined) models[purpose] = found
    }
  }
  return models
})

/** A request to the model of a purpose, or which flag names one. */
export const wantsModel =
  (purpose: Purpose, request: (model: string) => Request) =>
  ({ models }: Session): Request | string => {
    const model = models[purpose]
    return model === undefined ? `no model is known for it: name one with ${FLAGS[purpose]}` : request(model)
  }
