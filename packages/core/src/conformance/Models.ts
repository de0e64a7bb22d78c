/** Which models are called. */
import { Effect } from "effect"
import type { HttpClient } from "effect/http"
import type { Answer, Request, Unanswered } from "./Ask.ts"
import { at, listAt } from "./Json.ts"
import type { Purpose, Session } from "./Session.ts"

interface Words {
  /** The more telling ones first: an id that has them is preferred. */
  readonly has: ReadonlyArray<RegExp>
  /** What the id of a model for something else has in it too. */
  readonly lacks?: RegExp
}

/** What chat models that see images are often called. */
const SEES = /multimodal|omni|(^|[^a-z])vlm?($|[^a-z])|4o|gemini|claude|llava|pixtral|internvl/i

/** What the id of a model for a purpose has in it, where nobody names one. */
const WORDS: Readonly<Partial<Record<Purpose, Words>>> = {
  embedding: { has: [/embed/i] },
  rerank: { has: [/rerank/i] },
  chat: { has: [/vision/i, SEES, /chat/i], lacks: /embed|rerank|image|video|audio|speech|moderat/i },
  image: { has: [/image/i], lacks: /video|embed|rerank/i },
  video: { has: [/video/i], lacks: /image|embed|rerank/i }
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

const guess = (ids: ReadonlyArray<string>, purpose: Purpose): string | undefined => {
  const { has = [], lacks } = WORDS[purpose] ?? {}
  const others = ids.filter((id) => lacks?.test(id) !== true)
  return has.map((word) => others.find((id) => word.test(id))).find((id) => id !== undefined)
}

/**
 * The models named; for each purpose without one, the first of a list that has its word in the id.
 *
 * `lists` are asked one after the other until nothing is missing; one that fails is passed over.
 */
export const chooseModels = Effect.fnUntraced(function* (
  named: NonNullable<Session["options"]["models"]>,
  lists: ReadonlyArray<Effect.Effect<Answer, Unanswered, HttpClient.HttpClient>>
) {
  const models: { [Of in Purpose]?: string } = {}
  const missing = () => PURPOSES.filter((purpose) => purpose in WORDS && models[purpose] === undefined)
  for (const purpose of PURPOSES) {
    const name = named[purpose]
    if (name !== undefined) models[purpose] = name
  }
  for (const list of lists) {
    if (missing().length === 0) break
    const ids = yield* Effect.orElseSucceed(Effect.map(list, idsOf), () => [])
    for (const purpose of missing()) {
      const found = guess(ids, purpose)
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

/** What a refusal says nothing about: whether the model that was guessed is one for the purpose. Undefined when named. */
export const guessOf = ({ models, options }: Session, purpose: Purpose | undefined): string | undefined =>
  purpose === undefined || models[purpose] === undefined || options.models?.[purpose] !== undefined
    ? undefined
    : `${models[purpose]} is a guess and may be no model for it: name a model with ${FLAGS[purpose]}`
