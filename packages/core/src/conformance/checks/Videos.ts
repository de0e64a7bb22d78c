/** `/v1/videos`: one video is made, watched, downloaded and removed. */
import { Effect, Predicate } from "effect"
import { refusalOf, type Request } from "../framework/Ask.ts"
import { type Check, check } from "../framework/Check.ts"
import { at, fault } from "../framework/Json.ts"
import { wantsModel } from "../framework/Models.ts"
import { hasEnded, poll, statusOf } from "../framework/Poll.ts"
import { ours, promised } from "../framework/Rule.ts"
import type { Session } from "../framework/Session.ts"

const SECTION = "Video task"
const WORKFLOW = "Endpoints › Video"
const POLL_EVERY = "15 seconds"

const STATUSES: ReadonlySet<unknown> = new Set(["queued", "in_progress", "completed", "failed"])

const statusFault = (status: unknown) =>
  fault(STATUSES.has(status), `it is ${JSON.stringify(status)?.slice(0, 60)}`)

const ofVideo = ({ video }: Session): Request | string =>
  video === undefined ? "no video was created" : { params: [video.id] }

const create = check({
  call: "POST /v1/videos",
  needs: "paid",
  section: WORKFLOW,
  form: promised(SECTION, "the answer is a video task with its `id`"),
  model: "video",
  request: wantsModel("video", (model) => ({
    body: { model, prompt: "A red ball rolls slowly over a wooden table" }
  })),
  rules: {
    firstStatus: ours(SECTION, "the task carries its status at once")
  },
  run: ({ answer: { json }, judge, session }) =>
    Effect.sync(() => {
      session.video = { id: String(at(json, "id")) }
      judge("firstStatus", statusFault(at(json, "status")))
    })
})

const get = check({
  call: "GET /v1/videos/{}",
  needs: "paid",
  section: WORKFLOW,
  form: promised(SECTION, "the answer is a video task"),
  request: ofVideo,
  rules: {
    sameId: promised(SECTION, "the task is that whose id was asked for"),
    status: promised(SECTION, "`status` is queued, in_progress, completed or failed"),
    error: promised("Errors 1", "a task that failed carries `error`"),
    ends: ours("States and transitions › Video task", "the task ends within the patience given"),
    unknown: ours("Errors 3", "an unknown id is refused with 404")
  },
  run: Effect.fnUntraced(function* ({ answer, judge, refuses, send, session, skip }) {
    const { video } = session
    if (video === undefined) return
    judge("sameId", fault(at(answer.json, "id") === video.id, "it is another one"))
    const seen = yield* poll(answer, send({ params: [video.id] }), session.options, POLL_EVERY)
    const statuses = seen.map(statusOf)
    judge("status", statusFault(statuses.find((status) => !STATUSES.has(status)) ?? statuses[0]))
    const [last] = statuses.slice(-1)
    judge(
      "ends",
      fault(hasEnded(last), `after ${seen.length} looks it is ${JSON.stringify(last)?.slice(0, 60)}`)
    )
    if (hasEnded(last)) video.ended = last
    if (last !== "failed") skip("error", "the task did not fail")
    else {
      const error = at(seen.at(-1)?.json, "error")
      judge("error", fault(error !== undefined && error !== null, "it carries none"))
    }
    yield* refuses("unknown", { params: ["no-such-video"] }, ({ status }) =>
      fault(status === 404, `status ${status}`)
    )
  })
})

/** What an MP4 file has at its fifth byte. */
const FTYP = "ftyp"

const content = check({
  call: "GET /v1/videos/{}/content",
  needs: "paid",
  section: WORKFLOW,
  authentication: "Authentication 5",
  form: promised(WORKFLOW, "the answer is a file"),
  request: (session) =>
    session.video !== undefined && session.video.ended !== "completed"
      ? "the video was not completed"
      : ofVideo(session),
  rules: {
    mp4: promised(WORKFLOW, "the body is an MP4 file"),
    whole: promised(WORKFLOW, "the MP4 file is whole"),
    type: ours(WORKFLOW, "it is labelled video/mp4")
  },
  run: ({ answer: { bytes, headers, isFilm }, judge, skip }) =>
    Effect.sync(() => {
      const mark = new TextDecoder("latin1").decode(bytes.subarray(4, 8))
      judge("mp4", fault(mark === FTYP, "its first bytes are those of something else"))
      if (mark === FTYP) judge("whole", fault(isFilm, "it ends within a box, or has no film in it"))
      else skip("whole", "it is no MP4 file")
      const type = headers["content-type"]
      judge("type", fault(type?.startsWith("video/mp4") === true, `it is ${type ?? "not labelled"}`))
    })
})

const remove = check({
  call: "DELETE /v1/videos/{}",
  needs: "paid",
  section: WORKFLOW,
  form: ours(WORKFLOW, "the answer says which task was removed"),
  request: ofVideo,
  rules: { gone: promised(WORKFLOW, "the task's record is removed: it is found no more") },
  run: Effect.fnUntraced(function* ({ judge, send, session: { video } }) {
    if (video === undefined) return
    const call = { method: "GET", path: "/v1/videos/{}" } as const
    const found = yield* Effect.result(send({ params: [video.id] }, { call }))
    if (found._tag === "Failure") return judge("gone", found.failure.message)
    const still = refusalOf(found.success) === undefined && Predicate.isObject(found.success.json)
    judge("gone", fault(!still, "it is still found"))
  })
})

export const videos: ReadonlyArray<Check> = [create, get, content, remove]
