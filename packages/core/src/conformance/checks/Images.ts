/** `/v1/images/generations`: one image, and one task of a two-step model. */
import { Effect } from "effect"
import { type GatewayResponse, hasStatus, isTaskFinished, poll, statusOf } from "../framework/Request.ts"
import { type Check, check } from "../framework/Check.ts"
import { modelRequest } from "../framework/Models.ts"
import { at, failUnless, interfaceRule, listAt, ownRule } from "../framework/Rule.ts"

const SECTION = "Image generation request"
const ENDPOINTS = "Endpoints › Images"
const STATES = "States and transitions › Image task (two-step models)"
const POLL_EVERY = "5 seconds"

const isText = (value: unknown) => typeof value === "string" && value !== ""

const idOf = ({ json }: GatewayResponse): string | undefined => {
  const id = at(json, "id")
  return typeof id === "string" && id !== "" && listAt(json, "data").length === 0 ? id : undefined
}

const requestOf = (model: string) => ({ body: { model, prompt: "A red circle on a white ground" } })

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
    most: interfaceRule("Limits", "`n` above 10 is refused"),
    least: interfaceRule("Limits", "`n` below 1 is refused"),
    task: interfaceRule(ENDPOINTS, "a two-step model answers with the `id` of a task")
  },
  run: Effect.fnUntraced(function* ({ response, expect, expectRefusal, judge, session, expectSuccess }) {
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
    const { image, twoStepImage } = session.models
    const withNumber = (n: number) => ({ body: { ...requestOf(image ?? "").body, n } })
    if (data.length !== 1 || carried.length !== 1) return "its first response is wrong"
    yield* expectSuccess("several", withNumber(2), ({ json }) => {
      const { length } = listAt(json, "data")
      return failUnless(length === 2, `${length} images for \`n\` 2`)
    })
    yield* expectRefusal("most", withNumber(11))
    yield* expectRefusal("least", withNumber(0))
    if (twoStepImage === undefined || twoStepImage === image) {
      return "the model answers in one step: set a two-step model with --two-step-image-model"
    }
    yield* expectSuccess("task", requestOf(twoStepImage), (started) => {
      session.imageTask = idOf(started)
      return failUnless(session.imageTask !== undefined, "there is none")
    })
    return undefined
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
