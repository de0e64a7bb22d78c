/** A video's bytes: checked as they come, and written to a file that is there only when it is whole. */
import { Duration, Effect, type FileSystem, Stream } from "effect"
import { HttpClientResponse } from "effect/http"
import {
  type GatewayReason,
  InvalidRequest,
  InvalidResponse,
  TimedOut,
  Unreachable
} from "../../contract/GatewayError.ts"
import { parseJson } from "../../contract/Fields.ts"
import type { DownloadedVideo } from "../../gateway/Videos.ts"
import { notUnderstood } from "../transport/Exchange.ts"
import { makeMp4Reader } from "./Mp4.ts"
import { reasonOfErrorDetails, parseErrorBody } from "../transport/ErrorDetails.ts"

/** Of an answer that is no video: enough for what it says. */
const TEXT_BYTES = 64 * 1024

const typeOf = ({ headers }: HttpClientResponse.HttpClientResponse) => headers["content-type"] ?? ""

const isText = (response: HttpClientResponse.HttpClientResponse): boolean =>
  /^\s*(text\/|application\/([\w.+-]*json|xml|xhtml))/i.test(typeOf(response))

/** Statuses that `Response` takes no body with. */
const BODILESS = new Set([204, 205, 304])

/**
 * Answers that are no video end after 64 KB: where videos come there is no limit to the size of an answer.
 *
 * One that breaks off says as much as has come of it.
 */
export const bounded = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  if (response.status >= 200 && response.status < 300 && !isText(response)) return response
  let room = TEXT_BYTES
  const chunks = yield* response.stream.pipe(
    Stream.takeUntil(({ length }) => (room -= length) <= 0),
    Stream.catch(() => Stream.empty),
    Stream.runCollect
  )
  const body = Buffer.concat(chunks).subarray(0, TEXT_BYTES)
  // `Response` knows no status above, gateways may.
  const status = Math.min(response.status, 599)
  const kept = body.length === 0 || BODILESS.has(status) ? null : body
  const web = new Response(kept, { status, headers: { ...response.headers } })
  return HttpClientResponse.fromWeb(response.request, web)
})

/** A page or a refusal with status 200 is no video. */
export const judgeVideo = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<HttpClientResponse.HttpClientResponse, GatewayReason> =>
  isText(response)
    ? Effect.flatMap(
        Effect.orElseSucceed(response.text, () => ""),
        (text) => {
          const told = parseErrorBody(parseJson(text))
          const message = `No video came, but ${typeOf(response)}: “${text.slice(0, 80)}”.`
          return Effect.fail(
            told === undefined ? new InvalidResponse({ message }) : reasonOfErrorDetails(told)
          )
        }
      )
    : Effect.succeed(response)

/** The bytes of an MP4 as they come; fails when they stay out for `silence`, are cut off, or are no MP4's. */
export const mp4Bytes = (
  { headers, stream }: HttpClientResponse.HttpClientResponse,
  silence: Duration.Duration
): Stream.Stream<Uint8Array, GatewayReason> =>
  Stream.suspend(() => {
    const length = /^\d+$/.test(headers["content-length"] ?? "")
      ? Number(headers["content-length"])
      : undefined
    const reader = makeMp4Reader()
    let bytes = 0
    const end = Effect.suspend(() => {
      if (reader.isWhole() && (length === undefined || length === bytes)) return Effect.void
      const message =
        length === bytes
          ? `All ${bytes} bytes came, but they end within a box, or without \`mdat\` or \`moov\`: no whole film.`
          : `The video was cut off after ${bytes}${length === undefined ? "" : ` of ${length}`} bytes.`
      return Effect.fail(new Unreachable({ message }))
    })
    return stream.pipe(
      Stream.mapError(notUnderstood),
      Stream.timeoutOrElse({ duration: silence, orElse: () => stalled(silence, bytes) }),
      Stream.tap((chunk) => {
        bytes += chunk.length
        return reader.push(chunk)
          ? Effect.void
          : Effect.fail(new InvalidResponse({ message: "What came in place of the video is no MP4." }))
      }),
      Stream.concat(Stream.drain(Stream.fromEffect(end)))
    )
  })

const stalled = (after: Duration.Duration, bytes: number) => {
  const message = `Nothing came for ${Duration.format(after)} after ${bytes} bytes of the video (\`attemptTimeout\`).`
  return Stream.fail(new TimedOut({ message, scope: "attempt", after }))
}

/** What a file system says of a place, and what to do about it. */
const WHY: ReadonlyMap<string, string> = new Map([
  ["NotFound", "its folder is not there. Make it first."],
  ["PermissionDenied", "this user may not write in its folder. Choose another one."]
])

/** Writes bytes beside a path and renames them to it when they are whole; whatever happens, nothing else is left. */
export const writeWhole = Effect.fnUntraced(function* <E>(
  files: FileSystem.FileSystem,
  path: string,
  bytes: Stream.Stream<Uint8Array, E>
): Effect.fn.Return<DownloadedVideo, E | InvalidRequest> {
  const cannot = (error: { readonly message: string; readonly reason?: { readonly _tag: string } }) => {
    const why = WHY.get(error.reason?._tag ?? "") ?? error.message
    return new InvalidRequest({ message: `${path} cannot be written: ${why}`, param: "path" })
  }
  const isFolder = yield* files.stat(path).pipe(
    Effect.map(({ type }) => type === "Directory"),
    Effect.orElseSucceed(() => false)
  )
  if (isFolder) return yield* cannot({ message: "it is a folder. Name the file in it." })
  const temporary = `${path}.${crypto.randomUUID().slice(0, 8)}.part`
  const write = Effect.scoped(
    Effect.gen(function* () {
      // Before the first byte is asked for: what cannot be kept is not to be fetched.
      const file = yield* Effect.mapError(files.open(temporary, { flag: "wx" }), cannot)
      let written = 0
      yield* Stream.runForEach(bytes, (chunk) => {
        written += chunk.length
        return Effect.mapError(file.writeAll(chunk), cannot)
      })
      yield* Effect.mapError(file.sync, cannot)
      return written
    })
  )
  return yield* write.pipe(
    Effect.tap(() => Effect.mapError(files.rename(temporary, path), cannot)),
    Effect.onError(() => Effect.ignore(files.remove(temporary, { force: true }))),
    Effect.map((written): DownloadedVideo => ({ path, bytes: written }))
  )
})
