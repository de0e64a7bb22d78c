/** Downloads videos: validates the bytes as they arrive, as a stream or into a file. */
import { Duration, Effect, Stream } from "effect"
import type { HttpClientResponse } from "effect/http"
import { parseJson } from "../../contract/Fields.ts"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import {
  GatewayError,
  type GatewayReason,
  InvalidResponse,
  TimedOut,
  Unreachable
} from "../../contract/GatewayError.ts"
import { CurrentRetryPolicy, RETRY, type RetryPolicy, retrySchedule } from "../../gateway/RetryPolicy.ts"
import type { Videos } from "../../gateway/Videos.ts"
import type { CallInfo } from "../call/CallInfo.ts"
import type { AttemptFailure, CallResult } from "../transport/CallResult.ts"
import { reasonOfBody } from "../transport/ErrorDetails.ts"
import { beginningOf } from "../transport/Refusal.ts"
import { withDownloadErrors, withRedirects } from "../transport/Redirects.ts"
import { decodeFailure, sendAndDecode } from "../transport/SendAndDecode.ts"
import type { MediaContext } from "./MediaContext.ts"
import { makeMp4Reader } from "./Mp4.ts"
import { withTask } from "./Tasks.ts"
import { writeFileAtomically } from "./WriteFile.ts"

type Response = HttpClientResponse.HttpClientResponse

const typeOf = ({ headers }: Response) => headers["content-type"] ?? ""

const isText = (response: Response): boolean =>
  /^\s*(text\/|application\/([\w.+-]*json|xml|xhtml))/i.test(typeOf(response))

/** Fails for a page or an error with status 200. */
const rejectNonVideo = (result: CallResult<Response>): Effect.Effect<CallResult<Response>, AttemptFailure> =>
  isText(result.value)
    ? Effect.flatMap(beginningOf(result.value), (text) => {
        const message = `The response is not a video but ${typeOf(result.value)}: “${text.slice(0, 80)}”.`
        const reason = reasonOfBody(parseJson(text)) ?? new InvalidResponse({ message })
        return Effect.fail({ reason, requestId: result.requestId })
      })
    : Effect.succeed(result)

/** The bytes of an MP4. Fails after a stall of `idle`, a truncation, or bytes of another format. */
const mp4Bytes = (
  { headers, stream }: Response,
  idle: Duration.Duration
): Stream.Stream<Uint8Array, GatewayReason> =>
  Stream.suspend(() => {
    const stated = headers["content-length"] ?? ""
    const length = /^\d+$/.test(stated) ? Number(stated) : undefined
    const reader = makeMp4Reader()
    let bytes = 0
    const stalled = () => {
      const message = `No data for ${Duration.format(idle)} after ${bytes} bytes of the video (\`attemptTimeout\`).`
      return Stream.fail(new TimedOut({ message, scope: "attempt", after: idle }))
    }
    const end = Effect.suspend(() => {
      if (reader.isComplete() && (length === undefined || length === bytes)) return Effect.void
      const message =
        length === bytes
          ? `The video is incomplete: its ${bytes} bytes end inside a box, or have no \`mdat\` or \`moov\`.`
          : `The video was cut off after ${bytes}${length === undefined ? "" : ` of ${length}`} bytes.`
      return Effect.fail(new Unreachable({ message }))
    })
    return stream.pipe(
      Stream.mapError(decodeFailure),
      Stream.timeoutOrElse({ duration: idle, orElse: stalled }),
      Stream.tap((chunk) => {
        bytes += chunk.length
        return reader.push(chunk)
          ? Effect.void
          : Effect.fail(new InvalidResponse({ message: "The response is not an MP4 video." }))
      }),
      Stream.concat(Stream.drain(Stream.fromEffect(end)))
    )
  })

const VIDEO = { what: "the video", lifetime: "a link usually expires after 24 hours" }

/** `content` and `download` of `gateway.videos`. */
export const makeVideoDownload = (
  { baseUrl, caller, downloads, files, makeStreamed }: MediaContext,
  retry: RetryPolicy = RETRY
): Pick<Videos, "content" | "download"> => {
  const sendContent = makeStreamed(withRedirects(downloads, baseUrl))(
    GatewayApi.groups.videos.endpoints.content
  )

  const open = Effect.fnUntraced(function* (id: string) {
    const info: CallInfo = { operation: "videos.content" }
    const attempt = withDownloadErrors({ baseUrl, ...VIDEO }, sendContent({ params: { id } }), (send) =>
      Effect.flatMap(sendAndDecode(send, Effect.succeed, baseUrl), rejectNonVideo)
    )
    const { requestId, value } = yield* Effect.mapError(caller.callWithResult(info, attempt), withTask(id))
    return Stream.mapError(mp4Bytes(value, caller.attemptTimeout), (reason) =>
      withTask(id)(caller.fail(info, { reason, requestId }))
    )
  })

  const download: Videos["download"] = Effect.fnUntraced(function* (id, path) {
    // The policy limits the number of retries. A time budget would include the download itself.
    const policy = { ...retry, ...(yield* CurrentRetryPolicy), budget: Duration.infinity }
    let isOpen = false
    const bytes = Stream.unwrap(
      Effect.suspend(() => {
        isOpen = false
        return Effect.tap(open(id), () => Effect.sync(() => (isOpen = true)))
      })
    )
    return yield* writeFileAtomically(files, path, bytes).pipe(
      Effect.mapError((error) =>
        error instanceof GatewayError
          ? error
          : withTask(id)(caller.fail({ operation: "videos.download" }, { reason: error }))
      ),
      // Before the stream is open the call itself retries.
      Effect.retry({ schedule: retrySchedule(policy), while: () => isOpen })
    )
  })

  return { content: (id) => Stream.unwrap(open(id)), download }
}
