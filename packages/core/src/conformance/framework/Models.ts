/** Chooses the models to call. */
import { Effect } from "effect"
import type { HttpClient } from "effect/http"
import { definedFields } from "../../DefinedFields.ts"
import type { Refusal } from "./Check.ts"
import { type GatewayResponse, type CheckRequest, hasStatus, type NoResponse } from "./Request.ts"
import { at, listAt, ownRule } from "./Rule.ts"
import type { ModelPurpose, Session } from "./Session.ts"

/** Common names of chat models that accept images. */
const VISION_NAMES = /multimodal|omni|(^|[^a-z])vlm?($|[^a-z])|4o|gemini|claude|llava|pixtral|internvl/i

interface Purpose {
  readonly flag: string
  /** The `operation` that some lists give for a model. */
  readonly operation: string
  /** Patterns of model ids, best first. Absent if a model of this purpose is optional. */
  readonly has?: ReadonlyArray<RegExp>
  /** Excludes models for other purposes. */
  readonly lacks?: RegExp
}

const PURPOSES: Readonly<Record<ModelPurpose, Purpose>> = {
  embedding: { flag: "--embedding-model", operation: "embeddings", has: [/embed/i] },
  rerank: { flag: "--rerank-model", operation: "rerank", has: [/rerank/i] },
  chat: {
    flag: "--chat-model",
    operation: "chat",
    has: [/vision/i, VISION_NAMES, /chat/i],
    lacks: /embed|rerank|image|video|audio|speech|moderat/i
  },
  image: { flag: "--image-model", operation: "images", has: [/image/i], lacks: /video|embed|rerank/i },
  twoStepImage: { flag: "--two-step-image-model", operation: "images" },
  video: { flag: "--video-model", operation: "videos", has: [/video/i], lacks: /image|embed|rerank/i }
}

const purposes = Object.keys(PURPOSES) as ReadonlyArray<ModelPurpose>

interface Listed {
  readonly id: string
  readonly operation: string | undefined
  /** The free text of the list. */
  readonly note: string
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

const listedIn = ({ json }: GatewayResponse): ReadonlyArray<Listed> =>
  listAt(json, "data")
    .map((entry) => ({
      id: textOf(typeof entry === "string" ? entry : at(entry, "id")),
      operation: textOf(at(entry, "operation")) || undefined,
      note: textOf(at(entry, "note"))
    }))
    .filter(({ id }) => id !== "")

/** Matches the note of a model that accepts images. */
const VISION_NOTE = /\b(?:images?|pictures?|vision)\b/i

const TASK = /(?:^|[-_])task(?:[-_]|$)/i

/** Guesses by `operation`, else by the id. */
const guess = (listed: ReadonlyArray<Listed>, purpose: ModelPurpose): string | undefined => {
  const { has = [], lacks, operation } = PURPOSES[purpose]
  const stated = listed.filter((model) => model.operation === operation)
  const candidates = stated.length > 0 ? stated : listed.filter((model) => model.operation === undefined)
  const among = candidates.filter(({ id }) => lacks?.test(id) !== true)
  const named = has.map((word) => among.find(({ id }) => word.test(id))).find((found) => found !== undefined)
  const vision = purpose === "chat" ? stated.find(({ note }) => VISION_NOTE.test(note)) : undefined
  // Only the name shows that an image model returns a task.
  if (purpose === "twoStepImage") return stated.find(({ id }) => TASK.test(id))?.id
  return (vision ?? named ?? stated[0])?.id
}

/**
 * The named models, and a guess from the lists for each other purpose.
 *
 * Lists are fetched in order until no model is missing. A list that fails is ignored.
 */
export const chooseModels = Effect.fnUntraced(function* (
  named: Readonly<Record<string, string | undefined>>,
  lists: ReadonlyArray<Effect.Effect<GatewayResponse, NoResponse, HttpClient.HttpClient>>
) {
  const models: { [Of in ModelPurpose]?: string | undefined } = { ...named }
  const missing = () =>
    purposes.filter((purpose) => PURPOSES[purpose].has !== undefined && models[purpose] === undefined)
  for (const list of lists) {
    if (missing().length === 0) break
    const listed = yield* Effect.orElseSucceed(Effect.map(list, listedIn), () => [])
    for (const purpose of purposes) models[purpose] ??= guess(listed, purpose)
  }
  return definedFields(models)
})

/** A request to the model of a purpose, or the flag that sets the model. */
export const modelRequest =
  (purpose: ModelPurpose, request: (model: string) => CheckRequest) =>
  ({ models }: Session): CheckRequest | string => {
    const model = models[purpose]
    return model === undefined
      ? `no model is known for it: set one with ${PURPOSES[purpose].flag}`
      : request(model)
  }

/** A note that the model is a guess. Undefined if the caller named it. */
export const guessedModelNote = (
  { models, options }: Session,
  purpose: ModelPurpose | undefined
): string | undefined =>
  purpose === undefined || models[purpose] === undefined || options.models?.[purpose] !== undefined
    ? undefined
    : `${models[purpose]} is a guess and may not fit: set a model with ${PURPOSES[purpose].flag}`

/** The refusal of a model that no gateway has. */
export const unknownModel: Refusal = {
  ...ownRule("Errors 3", "an unknown model is refused with 404"),
  changes: [{ model: "no-such-model" }],
  judge: hasStatus(404)
}
