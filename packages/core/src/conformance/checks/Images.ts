/** `/v1/images/generations`: images with and without the fields of their group, and one task of a two-step model. */
import { Effect, Option, Record } from "effect"
import type { ImageGroup } from "../../contract/ImageModels.ts"
import { MAX_IMAGES, MAX_SEED } from "../../contract/ImageLimits.ts"
import { loadImage, type LoadedImage } from "../../media/ImageFormat.ts"
import {
  type GatewayResponse,
  download,
  hasStatus,
  isTaskFinished,
  poll,
  statusOf
} from "../framework/Request.ts"
import { type Check, check, type Refusal, refuses, requiredFields } from "../framework/Check.ts"
import { modelRequest } from "../framework/Models.ts"
import { at, failUnless, hasLength, interfaceRule, listAt, ownRule } from "../framework/Rule.ts"
import { PNG } from "./Chat.ts"

const SECTION = "Image generation request"
const ENDPOINTS = "Endpoints › Images"
const STATES = "States and transitions › Image task (two-step models)"
const POLL_EVERY = "5 seconds"

const isText = (value: unknown) => typeof value === "string" && value !== ""

const idOf = ({ json }: GatewayResponse): string | undefined => {
  const id = at(json, "id")
  return typeof id === "string" && id !== "" && listAt(json, "data").length === 0 ? id : undefined
}

const requestOf = (model: string, fields: object = {}) => ({
  body: { model, prompt: "A red circle on a white ground", ...fields }
})

type ByGroup = { readonly [G in ImageGroup]?: ReadonlyArray<unknown> }

/** Values that each group does not allow. */
const OUTSIDE = {
  image: { I2: [PNG] },
  input_fidelity: { I1: ["medium"] },
  moderation: { I1: ["high"] },
  output_format: { I1: ["gif"] },
  safety_tolerance: { I5: [-1, 6] },
  aspect_ratio: { I5: ["wide"] },
  seed: { I3: [-1, MAX_SEED + 1], I4: [-2, MAX_SEED + 1], I5: [0.5] },
  raw: { I5: ["yes"] },
  watermark: { I3: ["no"], I4: ["no"] },
  sequential_image_generation: { I4: ["always"] },
  response_format: { I4: ["binary"] }
} as const satisfies Readonly<Record<string, ByGroup>>

const UNKNOWN_GROUP = "the model's group is not known: set it with --image-group"

const outside = Record.map(OUTSIDE, (values: ByGroup, field): Refusal => {
  const groups = Object.keys(values).join(", ")
  return {
    ...interfaceRule(SECTION, `${groups}: a value of \`${field}\` that is not allowed is refused`),
    changes: ({ options: { groups: { image: group } = {} } }) =>
      group === undefined
        ? UNKNOWN_GROUP
        : (values[group]?.map((value) => ({ [field]: value })) ?? `not a rule of group ${group}`)
  }
})

/** A size that is no model's default. */
const SIZE = "1024x1536"
const RATIO = "16:9"

/** Fields that show in the image: the rule, the group that has the field, the field, and whether an image is as asked. */
const EFFECTS = [
  ["pixels", undefined, { size: SIZE }, ({ height, width }) => `${width}x${height}` === SIZE],
  ["format", "I1", { output_format: "webp" }, ({ format }) => format === "webp"],
  ["ratio", "I5", { aspect_ratio: RATIO }, ({ height, width }) => Math.abs(width / height - 16 / 9) < 0.1]
] as const satisfies ReadonlyArray<
  readonly [string, ImageGroup | undefined, object, (image: LoadedImage) => boolean]
>

/** The first image of a response, from its link or Base64. */
const firstImage = Effect.fnUntraced(function* (response: GatewayResponse) {
  const one = at(response.json, "data", 0)
  const base64 = at(one, "b64_json") ?? at(one, "base64_json")
  const bytes = isText(base64)
    ? Buffer.from(String(base64), "base64")
    : yield* download(String(at(one, "url")))
  return yield* Effect.fromResult(loadImage(bytes))
})

const create = check({
  call: "POST /v1/images/generations",
  needs: "paid",
  section: ENDPOINTS,
  form: interfaceRule(SECTION, "the response has `data`, or the `id` of a task"),
  model: "image",
  request: (session) =>
    modelRequest(session.models.image === undefined ? "twoStepImage" : "image", requestOf)(session),
  rules: {
    images: interfaceRule(SECTION, "`data` holds each image as `url` or as Base64"),
    one: interfaceRule("Limits", "without `n` one image is made"),
    several: interfaceRule(SECTION, "`n` is the number of images"),
    pixels: interfaceRule(SECTION, "an image has the pixels of `size`"),
    format: interfaceRule(SECTION, "I1: an image has the `output_format`"),
    ratio: interfaceRule(SECTION, "I5: an image has the `aspect_ratio`"),
    base64: interfaceRule(SECTION, "I4: with `response_format` base64_json there are no links"),
    task: interfaceRule(ENDPOINTS, "a two-step model answers with the `id` of a task"),
    ...requiredFields(SECTION, "model", "prompt"),
    most: refuses("Limits", "`n` above 10 is refused", { n: MAX_IMAGES + 1 }),
    least: refuses("Limits", "`n` below 1 is refused", { n: 0 }),
    whole: refuses(SECTION, "`n` that is not an integer is refused", { n: 1.5 }),
    size: refuses(SECTION, "a `size` that is neither a name nor pixels is refused", { size: "enormous" }),
    quality: refuses(SECTION, "another `quality` than low, medium or high is refused", { quality: "best" }),
    ...outside,
    fused: {
      ...interfaceRule("Limits", "I4: more than 15 reference and created images are refused"),
      changes: ({ options: { groups } }) =>
        groups?.image === "I4"
          ? [{ image: Array.from({ length: 14 }, () => PNG), n: 2 }]
          : "it needs a model of I4 and --image-group I4"
    }
  },
  run: Effect.fnUntraced(function* ({ response, expect, judge, send, session, skip, expectSuccess }) {
    session.imageTask = idOf(response)
    if (session.imageTask !== undefined) {
      judge("task", undefined)
      return "the model works in two steps: see the task"
    }
    const data = listAt(response.json, "data")
    const carried = data.filter((one) =>
      ["url", "b64_json", "base64_json"].some((field) => isText(at(one, field)))
    )
    expect("images", data.length > 0 && carried.length === data.length, "an entry has neither")
    expect("one", data.length === 1, `got ${data.length} images`)
    const { image = "", twoStepImage } = session.models
    if (data.length !== 1 || carried.length !== 1) return "its first response is wrong"
    yield* expectSuccess("several", requestOf(image, { n: 2 }), hasLength("data", 2, "images for `n` 2"))
    if (twoStepImage === undefined || twoStepImage === image) {
      skip("task", "the model answers in one step: set a two-step model with --two-step-image-model")
    } else {
      yield* expectSuccess("task", requestOf(twoStepImage), (started) => {
        session.imageTask = idOf(started)
        return failUnless(session.imageTask !== undefined, "there is none")
      })
    }
    const group = session.options.groups?.image
    for (const [rule, only, fields, isAsAsked] of EFFECTS) {
      if (only !== undefined && only !== group) continue
      const made = yield* Effect.option(Effect.flatMap(send(requestOf(image, fields)), firstImage))
      // The interface does not list each model's sizes, and a link may lead where the check cannot go.
      if (Option.isNone(made)) skip(rule, `there is no image to read for ${JSON.stringify(fields)}`)
      else {
        const { format, height, width } = made.value
        expect(rule, isAsAsked(made.value), `it is ${format}, ${width}x${height}`)
      }
    }
    if (group === "I4") {
      yield* expectSuccess("base64", requestOf(image, { response_format: "base64_json" }), ({ json }) =>
        failUnless(at(json, "data", 0, "url") === undefined, "there is one")
      )
    }
    return group === undefined ? UNKNOWN_GROUP : `not a rule of group ${group}`
  })
})

const get = check({
  call: "GET /v1/images/generations/{}",
  needs: "paid",
  section: ENDPOINTS,
  form: interfaceRule(SECTION, "the response has the `status` of the task"),
  request: ({ imageTask }) =>
    imageTask === undefined ? "no image task was created" : { params: [imageTask] },
  rules: {
    status: interfaceRule(SECTION, "the task carries `status`, a text"),
    urls: interfaceRule(ENDPOINTS, "when the task is completed, each entry of `data` has its `url`"),
    ends: ownRule(STATES, "the task ends within the time allowed"),
    unknown: ownRule("Errors 3", "an unknown id is refused with 404")
  },
  run: Effect.fnUntraced(function* ({ response, expect, expectRefusal, send, session, skip }) {
    const { imageTask = "" } = session
    const seen = yield* poll(response, send({ params: [imageTask] }), session.options, POLL_EVERY)
    const states = seen.map(statusOf)
    expect("status", states.every(isText), "it is missing")
    const last = seen.at(-1) ?? response
    expect("ends", isTaskFinished(statusOf(last)), `it has not after ${seen.length} polls`)
    if (statusOf(last) !== "completed") skip("urls", "the task was not completed")
    else {
      const data = listAt(last.json, "data")
      expect("urls", data.length > 0 && data.every((one) => isText(at(one, "url"))), "an entry has none")
    }
    yield* expectRefusal("unknown", { params: ["no-such-task"] }, hasStatus(404))
  })
})

export const images: ReadonlyArray<Check> = [create, get]
