/** `/v1/images/generations`: one image, and where a model works in two steps one task. */
import { Effect } from "effect"
import type { Answer } from "../framework/Ask.ts"
import { type Check, check } from "../framework/Check.ts"
import { at, fault, listAt } from "../framework/Json.ts"
import { wantsModel } from "../framework/Models.ts"
import { hasEnded, poll, statusOf } from "../framework/Poll.ts"
import { ours, promised } from "../framework/Rule.ts"

const SECTION = "Image generation request"
const ENDPOINTS = "Endpoints › Images"
const POLL_EVERY = "5 seconds"

const isText = (value: unknown) => typeof value === "string" && value !== ""

const idOf = ({ json }: Answer): string | undefined => {
  const id = at(json, "id")
  return typeof id === "string" && id !== "" && listAt(json, "data").length === 0 ? id : undefined
}

const requestOf = (model: string) => ({ body: { model, prompt: "A red circle on a white ground" } })

const create = check({
  call: "POST /v1/images/generations",
  needs: "paid",
  section: ENDPOINTS,
  form: promised(SECTION, "the answer has `data`, or the `id` of a task"),
  model: "image",
  request: (session) =>
    wantsModel(session.models.image === undefined ? "twoStepImage" : "image", requestOf)(session),
  rules: {
    images: promised(SECTION, "`data` holds each image as `url` or as Base64"),
    one: promised("Limits", "without `n` one image is made"),
    task: promised(ENDPOINTS, "a two-step model answers with the `id` of a task")
  },
  run: Effect.fnUntraced(function* ({ answer, judge, session, skip, succeeds }) {
    session.imageTask = idOf(answer)
    if (session.imageTask !== undefined) {
      skip("images", "the model works in two steps: see the task")
      skip("one", "the model works in two steps: see the task")
      return judge("task", undefined)
    }
    const data = listAt(answer.json, "data")
    const carried = data.filter((one) =>
      ["url", "b64_json", "base64_json"].some((field) => isText(at(one, field)))
    )
    judge("images", fault(data.length > 0 && carried.length === data.length, "one is neither"))
    judge("one", fault(data.length === 1, `${data.length} images came`))
    const { image, twoStepImage } = session.models
    if (twoStepImage === undefined || twoStepImage === image) {
      return skip("task", "the model answers at once: name one of two steps with --two-step-image-model")
    }
    yield* succeeds("task", requestOf(twoStepImage), (started) => {
      session.imageTask = idOf(started)
      return fault(session.imageTask !== undefined, "there is none")
    })
  })
})

const get = check({
  call: "GET /v1/images/generations/{}",
  needs: "paid",
  section: ENDPOINTS,
  form: promised(SECTION, "the answer has the `status` of the task"),
  request: ({ imageTask }) =>
    imageTask === undefined ? "no image task was created" : { params: [imageTask] },
  rules: {
    status: promised(SECTION, "the task carries `status`, a text"),
    urls: promised(ENDPOINTS, "when the task is completed, each entry of `data` has its `url`"),
    ends: ours(
      "States and transitions › Image task (two-step models)",
      "the task ends within the patience given"
    ),
    unknown: ours("Errors 3", "an unknown id is refused with 404")
  },
  run: Effect.fnUntraced(function* ({ answer, judge, refuses, send, session, skip }) {
    const { imageTask = "" } = session
    const seen = yield* poll(answer, send({ params: [imageTask] }), session.options, POLL_EVERY)
    judge(
      "status",
      fault(
        seen.every((answer) => isText(statusOf(answer))),
        "it is missing"
      )
    )
    const last = seen.at(-1) ?? answer
    judge("ends", fault(hasEnded(statusOf(last)), `it has not after ${seen.length} looks`))
    if (statusOf(last) !== "completed") skip("urls", "the task was not completed")
    else {
      const data = listAt(last.json, "data")
      judge("urls", fault(data.length > 0 && data.every((one) => isText(at(one, "url"))), "one has none"))
    }
    yield* refuses("unknown", { params: ["no-such-task"] }, ({ status }) =>
      fault(status === 404, `status ${status}`)
    )
  })
})

export const images: ReadonlyArray<Check> = [create, get]
