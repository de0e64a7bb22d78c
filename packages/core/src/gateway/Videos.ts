/** Video generation: `gateway.videos`. */
import { Duration, type Effect, type Schedule, Schema, type Stream } from "effect"
import type { Video } from "../contract/Videos.ts"
import type { GatewayError } from "../contract/GatewayError.ts"
import type { RuntimeVideoCall, VideoCall, VideoGroup } from "../contract/VideoModels.ts"

/** How to wait for a video task. Defaults come from the client. */
export interface VideoWaitOptions {
  /** The poll interval, as a duration or a schedule. A schedule that ends first is a time-out. Default: 15 seconds. */
  readonly every?: Duration.Input | Schedule.Schedule<unknown> | undefined
  /** The limit from the start of `generate` or `resume`. Default: 30 minutes. Most videos take 1 to 5. */
  readonly deadline?: Duration.Input | undefined
  /**
   * What becomes of the task when the wait is interrupted, as by `Effect.timeout` or Ctrl-C: `"leave"` lets it go on, and a
   * warning in the log has its id; `"remove"` deletes it (`videos.remove`), and warns if the gateway refuses. Default:
   * `"leave"`.
   *
   * **Details.** With `"remove"`, an interruption during the creation waits for its response, to know the id. A failure and
   * the deadline leave the task.
   */
  readonly onInterrupt?: "leave" | "remove" | undefined
}

/** The interval that the interface recommends, and six times the usual duration of the slowest videos. */
export const VIDEO_WAIT = { every: "15 seconds", deadline: "30 minutes" } as const satisfies VideoWaitOptions

/** The usual lifetime of a link after completion. Download before it expires. */
const VIDEO_LINK_LIFETIME = Duration.hours(24)

/** A video written to a file. */
export const DownloadedVideo = Schema.Struct({ path: Schema.String, bytes: Schema.Int })
export interface DownloadedVideo extends Schema.Schema.Type<typeof DownloadedVideo> {}

/**
 * Creates video tasks, waits and downloads.
 *
 * **Details.** A creation is charged, and is retried only if the first attempt was not executed. Polls and downloads are
 * retried like every read. A task goes on at the gateway after a failure or an interruption: the error or the log has its
 * id, and `resume` continues it, also in another process.
 *
 * ```ts
 * const { id } = yield* gateway.videos.generate({ group: "V-A", model, prompt: "A lock opens", seconds: "8" })
 * yield* gateway.videos.download(id, "lock.mp4")
 * ```
 */
export interface Videos {
  /** `POST /v1/videos`: creates the task and does not wait. A call that its group does not accept fails before sending. */
  readonly create: {
    (call: VideoCall): Effect.Effect<Video, GatewayError>
    <const G extends VideoGroup, const S extends string, const Z extends string>(
      call: RuntimeVideoCall<G, S, Z>
    ): Effect.Effect<Video, GatewayError>
  }
  /** `GET /v1/videos/{id}`: the current state of the task. A failed task is not an error. */
  readonly get: (id: string) => Effect.Effect<Video, GatewayError>
  /**
   * Creates a video and waits until it is `completed`. `failed` is `TaskFailed`, the deadline `TimedOut`.
   *
   * **Gotchas.** If it is interrupted or times out before the creation is answered, a task with an unknown id may exist:
   * `onInterrupt: "remove"` removes it after an interruption.
   */
  readonly generate: {
    (call: VideoCall, options?: VideoWaitOptions): Effect.Effect<Video, GatewayError>
    <const G extends VideoGroup, const S extends string, const Z extends string>(
      call: RuntimeVideoCall<G, S, Z>,
      options?: VideoWaitOptions
    ): Effect.Effect<Video, GatewayError>
  }
  /** Waits for an existing task. */
  readonly resume: (id: string, options?: VideoWaitOptions) => Effect.Effect<Video, GatewayError>
  /**
   * Like `generate`, or `resume` for an id, as a stream of states.
   *
   * The first state has the id: store it, to resume after a crash.
   */
  readonly progress: (
    task: VideoCall | { readonly id: string },
    options?: VideoWaitOptions
  ) => Stream.Stream<Video, GatewayError>
  /**
   * `GET /v1/videos/{id}/content`: the MP4 as a stream.
   *
   * **Details.** Size and duration are not limited; only a stall of `attemptTimeout` ends it. A truncated stream fails with
   * `Unreachable`, another format with `InvalidResponse`: discard the bytes received. A failure after the first bytes is
   * not retried. Videos are usually available for 24 hours. After a redirect to another host the API key is not sent; an
   * expired link is `NotFound`.
   *
   * **Gotchas.** Truncation cannot be detected without `Content-Length` if the last MP4 box has size 0 (to the end).
   */
  readonly content: (id: string) => Stream.Stream<Uint8Array, GatewayError>
  /**
   * Downloads the MP4 to a file, atomically.
   *
   * **Details.** Written to a temporary file in the same folder, then renamed. A truncated download restarts from the
   * beginning, under the retry policy.
   */
  readonly download: (id: string, path: string) => Effect.Effect<DownloadedVideo, GatewayError>
  /** `DELETE /v1/videos/{id}`: removes the task's record. The response body is ignored. */
  readonly remove: (id: string) => Effect.Effect<void, GatewayError>
}

/** The progress of a task, from 0 to 1, if the gateway states `progress` in percent. */
export const videoProgress = ({ extra, status }: Video): number | undefined => {
  if (status === "completed") return 1
  const progress = extra?.["progress"]
  const percent = typeof progress === "string" ? Number.parseFloat(progress) : progress
  return typeof percent === "number" && percent >= 0 && percent <= 100 ? percent / 100 : undefined
}

/**
 * The expiry of the download, in ms since 1970, if known.
 *
 * `expires_at`, or 24 hours after `completed_at`; both are in seconds and not part of the interface.
 */
export const videoExpiry = ({ extra }: Video): number | undefined => {
  const until = extra?.["expires_at"]
  if (typeof until === "number" && until > 0) return until * 1000
  const completed = extra?.["completed_at"]
  return typeof completed === "number" && completed > 0
    ? completed * 1000 + Duration.toMillis(VIDEO_LINK_LIFETIME)
    : undefined
}
