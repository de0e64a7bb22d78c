/** Videos of the gateway, as a program asks for them: `gateway.videos`. */
import { Duration, type Effect, type Schedule, type Stream } from "effect"
import type { Video } from "../contract/Videos.ts"
import type { GatewayError } from "../contract/GatewayError.ts"
import type { VideoCall } from "../contract/VideoModels.ts"

/** How a video is waited for; what is not given is the client's own. */
export interface VideoWaitOptions {
  /** The wait before each look at the task, as a duration or as a schedule; 15 seconds. */
  readonly every?: Duration.Input | Schedule.Schedule<unknown>
  /** From the start of `generate`, or of `resume`, to the task's end; 30 minutes. It takes 1 to 5 as a rule. */
  readonly deadline?: Duration.Input
}

/** The interface's recommendation. */
export const VIDEO_POLL_INTERVAL = Duration.seconds(15)

/** Six times what the slowest videos take as a rule: whoever still waits then should know. */
export const VIDEO_DEADLINE = Duration.minutes(30)

/** How long the link to a video lives after it is completed, generally. Then it is gone: download before. */
export const VIDEO_LINK_LIFETIME = Duration.hours(24)

/** A video that was written to a file. */
export interface DownloadedVideo {
  readonly path: string
  readonly bytes: number
}

/**
 * Videos: made as tasks, waited for, downloaded.
 *
 * **Details.** A creation costs money and is made again only where the first surely did not happen; looks and
 * downloads are retried like every read. A task goes on at the gateway whatever happens here: the error of a failed
 * wait and the log of an interrupted one name its id, and `resume` takes it up again, in another process as well.
 *
 * ```ts
 * const { id } = yield* gateway.videos.generate({ group: "V-A", model, prompt: "A lock opens", seconds: "8" })
 * yield* gateway.videos.download(id, "lock.mp4")
 * ```
 */
export interface Videos {
  /** `POST /v1/videos`: makes the task and does not wait. A call that its group does not take is refused unsent. */
  readonly create: (call: VideoCall) => Effect.Effect<Video, GatewayError>
  /** `GET /v1/videos/{id}`: the task as it is now. One that failed is no error here. */
  readonly get: (id: string) => Effect.Effect<Video, GatewayError>
  /**
   * Makes a video and waits for it: the task once `completed`. `failed` is `TaskFailed`, the deadline `TimedOut`.
   *
   * **Gotchas.** Interrupted, or late, before the creation is answered, nobody here knows the id, and the task may exist.
   */
  readonly generate: (call: VideoCall, patience?: VideoWaitOptions) => Effect.Effect<Video, GatewayError>
  /** Waits for a task that was made before. */
  readonly resume: (id: string, patience?: VideoWaitOptions) => Effect.Effect<Video, GatewayError>
  /**
   * The same as `generate`, or of an id as `resume`, each state as it is seen.
   *
   * The first one carries the id as soon as there is one: write it down, and a crash loses nothing that was paid for.
   */
  readonly progress: (
    task: VideoCall | { readonly id: string },
    patience?: VideoWaitOptions
  ) => Stream.Stream<Video, GatewayError>
  /**
   * `GET /v1/videos/{id}/content`: the MP4 as it comes.
   *
   * **Details.** Of any size, for as long as it takes: only silence of `attemptTimeout` ends it. It fails when it is cut
   * off (`Unreachable`) or is no MP4 (`InvalidResponse`); what came before is then not to be kept. A failure after the
   * first bytes is not retried. Possible within 24 hours of completion, generally. Where the gateway sends the client to
   * another host for it, the API key does not go along; that the link there has ended is `NotFound`.
   *
   * **Gotchas.** Where the gateway sends no `Content-Length` and the film's last box has no size (0, which means up to the
   * end), nothing tells a film that was cut off within it and ended in order from a whole one.
   */
  readonly content: (id: string) => Stream.Stream<Uint8Array, GatewayError>
  /**
   * The MP4 to a file, which is there when it is whole and never before.
   *
   * **Details.** Written beside it under another name, then renamed over what was there. Cut off in the middle it is
   * fetched again from the start, as the retry policy says.
   */
  readonly download: (id: string, path: string) => Effect.Effect<DownloadedVideo, GatewayError>
  /** `DELETE /v1/videos/{id}`: removes the task's record, whatever the gateway answers in its body. */
  readonly remove: (id: string) => Effect.Effect<void, GatewayError>
}

/** How far a task is, from 0 to 1, where the gateway says so: as `progress`, in percent. */
export const videoProgress = ({ extra, status }: Video): number | undefined => {
  if (status === "completed") return 1
  const said = extra?.["progress"]
  const percent = typeof said === "string" ? Number.parseFloat(said) : said
  return typeof percent === "number" && percent >= 0 && percent <= 100 ? percent / 100 : undefined
}

/**
 * Until when the video can be downloaded, in ms since 1970, where it can be known.
 *
 * As `expires_at` says, or 24 hours after `completed_at`, both in seconds: the interface names neither.
 */
export const videoExpiry = ({ extra }: Video): number | undefined => {
  const until = extra?.["expires_at"]
  if (typeof until === "number" && until > 0) return until * 1000
  const completed = extra?.["completed_at"]
  return typeof completed === "number" && completed > 0
    ? completed * 1000 + Duration.toMillis(VIDEO_LINK_LIFETIME)
    : undefined
}
