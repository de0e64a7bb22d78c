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

/** What some lists say that a model is for, as `operation`. */
const OPERATIONS: Readonly<Partial<Record<Purpose, string>>> = {
  embedding: "embeddings",
  rerank: "rerank",
  chat: "chat",
  image: "images",
  twoStepImage: "images",
  video: "videos"
}

interface Listed {
  readonly id: string
  readonly operation: string | undefined
  /** What else is said of it. */
  readonly note: string
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

const listedIn = ({ json }: Answer): ReadonlyArray<Listed> =>
  listAt(json, "data")
    .map((entry) => ({
      id: textOf(typeof entry === "string" ? entry : at(entry, "id")),
      operation: textOf(at(entry, "operation")) || undefined,
      note: textOf(at(entry, "note"))
    }))
    .filter(({ id }) => id !== "")

/** What the note of a model that sees images has in it. */
const SEEN = /\b(?:images?|pictures?|vision)\b/i

const TASK = /(?:^|[-_])task(?:[-_]|$)/i

/** By what the list says that a model is for; where it says nothing, by what its id has in it. */
const guess = (listed: ReadonlyArray<Listed>, purpose: Purpose): string | undefined => {
  const { has = [], lacks } = WORDS[purpose] ?? {}
  const said = listed.filter(({ operation }) => operation === OPERATIONS[purpose])
  const among = (said.length > 0 ? said : listed.filter(({ operation }) => operation === undefined)).filter(
    ({ id }) => lacks?.test(id) !== true
  )
  const named = has.map((word) => among.find(({ id }) => word.test(id))).find((found) => found !== undefined)
  const seeing = purpose === "chat" ? said.find(({ note }) => SEEN.test(note)) : undefined
  // Which of the image models answer with a task, only a name of theirs tells.
  if (purpose === "twoStepImage") return said.find(({ id }) => TASK.test(id))?.id
  return (seeing ?? named ?? said[0])?.id
}

/**
 * The models named; for each purpose without one, the first of a list that is said to be for it, or has its word in the id.
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
    const listed = yield* Effect.orElseSucceed(Effect.map(list, listedIn), () => [])
    for (const purpose of PURPOSES.filter((purpose) => models[purpose] === undefined)) {
      const found = guess(listed, purpose)
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
