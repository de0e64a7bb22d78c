/** `/v1/videos`: one video is created, polled, downloaded and removed. */
import { Effect, Predicate } from "effect"
import {
  type CheckRequest,
  hasStatus,
  isTaskFinished,
  poll,
  refusalIn,
  statusOf
} from "../framework/Request.ts"
import { VIDEO_GROUPS } from "../../contract/VideoModels.ts"
import { type Check, check, type Refusal, refuses, requiredFields } from "../framework/Check.ts"
import { modelRequest } from "../framework/Models.ts"
import { at, failUnless, interfaceRule, ownRule } from "../framework/Rule.ts"
import type { Session } from "../framework/Session.ts"

const SECTION = "Video task"
const CREATE = "Video create request"
const WORKFLOW = "Endpoints › Video"
const STATES = "States and transitions › Video task"
const POLL_EVERY = "15 seconds"

const STATUSES: ReadonlySet<unknown> = new Set(["queued", "in_progress", "completed", "failed"])

const statusFault = (status: unknown) =>
  failUnless(STATUSES.has(status), `it is ${JSON.stringify(status)?.slice(0, 60)}`)

const ofVideo = ({ video }: Session): CheckRequest | string =>
  video === undefined ? "no video was created" : { params: [video.id] }

const REQUEST = { prompt: "A red ball rolls slowly over a wooden table" }

/** Values that no group, or not each group, allows. */
const OUTSIDE = {
  seconds: ["1", "5", "7", "16", "soon"],
  size: ["320x240", "479P", "1081P", "2:1", "large"]
} as const

/** The values that a group does not allow are refused. */
const outside = (field: keyof typeof OUTSIDE): Refusal => ({
  ...interfaceRule(CREATE, `a value of \`${field}\` that the model's group does not have is refused`),
  changes: ({ options: { groups: { video: group } = {} } }) => {
    if (group === undefined) return "the model's group is not known: set it with --video-group"
    if (group === "image-to-video") return "the interface lists none for the group image-to-video"
    const allowed: ReadonlyArray<string> = VIDEO_GROUPS[group][field]
    return OUTSIDE[field].filter((value) => !allowed.includes(value)).map((value) => ({ [field]: value }))
  }
})

const create = check({
  call: "POST /v1/videos",
  needs: "paid",
  section: WORKFLOW,
  form: interfaceRule(SECTION, "the response is a video task with its `id`"),
  model: "video",
  request: modelRequest("video", (model) => ({
    body: { model, ...REQUEST }
  })),
  rules: {
    firstStatus: ownRule(SECTION, "the task carries its status at once"),
    ...requiredFields(CREATE, "model", "prompt"),
    seconds: refuses(CREATE, "`seconds` as a number is refused: it is text", { seconds: 5 }),
    groupSeconds: outside("seconds"),
    size: refuses(CREATE, "`size` as a number is refused: it is text", { size: 720 }),
    groupSize: outside("size"),
    reference: refuses(CREATE, "an `input_reference` that is no text or object is refused", {
      input_reference: 7
    })
  },
  run: ({ judge, response: { json }, session }) =>
    Effect.sync(() => {
      session.video = { id: String(at(json, "id")), firstStatus: at(json, "status") }
      judge("firstStatus", statusFault(at(json, "status")))
    })
})

const get = check({
  call: "GET /v1/videos/{}",
  needs: "paid",
  section: WORKFLOW,
  form: interfaceRule(SECTION, "the response is a video task"),
  request: ofVideo,
  rules: {
    sameId: interfaceRule(SECTION, "the task has the requested id"),
    status: interfaceRule(SECTION, "`status` is queued, in_progress, completed or failed"),
    error: interfaceRule("Errors 1", "a failed task carries `error`"),
    queued: interfaceRule(STATES, "only a task of group V-A is `queued`"),
    noError: ownRule(SECTION, "a task that has not failed carries no `error`, not even null"),
    ends: ownRule(STATES, "the task ends within the time allowed"),
    unknown: ownRule("Errors 3", "an unknown id is refused with 404")
  },
  run: Effect.fnUntraced(function* ({ response, expect, judge, expectRefusal, send, session, skip }) {
    const { video } = session
    if (video === undefined) return
    expect("sameId", at(response.json, "id") === video.id, "it has another id")
    const seen = yield* poll(response, send({ params: [video.id] }), session.options, POLL_EVERY)
    const statuses = seen.map(statusOf)
    judge("status", statusFault(statuses.find((status) => !STATUSES.has(status)) ?? statuses[0]))
    const [last] = statuses.slice(-1)
    const state = JSON.stringify(last)?.slice(0, 60)
    expect("ends", isTaskFinished(last), `after ${seen.length} polls it is ${state}`)
    if (isTaskFinished(last)) video.ended = last
    const early = seen.find((task) => statusOf(task) !== "failed" && at(task.json, "error") !== undefined)
    judge("noError", early && `it is ${JSON.stringify(at(early.json, "error"))}`)
    const group = session.options.groups?.video
    if (group === undefined) skip("queued", "the model's group is not known: set it with --video-group")
    else if (group === "V-A") skip("queued", "the model is of group V-A")
    else expect("queued", ![video.firstStatus, ...statuses].includes("queued"), "it is")
    if (last !== "failed") skip("error", "the task did not fail")
    else {
      const error = at(seen.at(-1)?.json, "error")
      expect("error", error !== undefined && error !== null, "it carries none")
    }
    yield* expectRefusal("unknown", { params: ["no-such-video"] }, hasStatus(404))
  })
})

/** The bytes 4 to 7 of an MP4 file. */
const FTYP = "ftyp"

const content = check({
  call: "GET /v1/videos/{}/content",
  needs: "paid",
  section: WORKFLOW,
  authentication: "Authentication 5",
  form: interfaceRule(WORKFLOW, "the response is a file"),
  request: (session) =>
    session.video !== undefined && session.video.ended !== "completed"
      ? "the video was not completed"
      : ofVideo(session),
  rules: {
    mp4: interfaceRule(WORKFLOW, "the body is an MP4 file"),
    whole: interfaceRule(WORKFLOW, "the MP4 file is complete"),
    type: ownRule(WORKFLOW, "its content type is video/mp4")
  },
  run: ({ response: { bytes, headers, isFilm }, expect, skip }) =>
    Effect.sync(() => {
      const mark = new TextDecoder("latin1").decode(bytes.subarray(4, 8))
      expect("mp4", mark === FTYP, "its first bytes are not those of an MP4 file")
      if (mark === FTYP) expect("whole", isFilm, "it is truncated, or has no film")
      else skip("whole", "it is not an MP4 file")
      const type = headers["content-type"]
      expect("type", type?.startsWith("video/mp4") === true, `it is ${type ?? "not labelled"}`)
    })
})

const remove = check({
  call: "DELETE /v1/videos/{}",
  needs: "paid",
  section: WORKFLOW,
  form: ownRule(WORKFLOW, "the response says which task was removed"),
  request: ofVideo,
  rules: { gone: interfaceRule(WORKFLOW, "the task's record is removed") },
  run: Effect.fnUntraced(function* ({ expect, judge, send, session: { video } }) {
    if (video === undefined) return
    const found = yield* Effect.result(send({ params: [video.id] }, { call: "GET /v1/videos/{}" }))
    if (found._tag === "Failure") return judge("gone", found.failure.message)
    const still = refusalIn(found.success) === undefined && Predicate.isObject(found.success.json)
    expect("gone", !still, "it is still found")
  })
})

export const videos: ReadonlyArray<Check> = [create, get, content, remove]
