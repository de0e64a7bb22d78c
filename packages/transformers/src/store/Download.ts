/** Downloads one file, continues what an earlier attempt left, and keeps only what has the right checksum. */
import { open, rename, rm } from "node:fs/promises"
import { InvalidRequest, InvalidResponse, ServerFailure, TimedOut, Unreachable } from "@sluice/core"
import { Context, Duration, Effect, Schedule, Stream } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import type { CatalogueFile, CatalogueModel } from "../catalogue/CatalogueModel.ts"
import { modelFailure, onFiles, sha256Of, sizeOf } from "./ModelFolder.ts"

/** The patience of a download. */
export const DownloadLimits = Context.Reference("@sluice/transformers/DownloadLimits", {
  defaultValue: () => ({
    /** Until the head of a response, and between two of its parts. */
    idle: Duration.seconds(30),
    /** Attempts after the first. Each continues where the one before broke off. */
    retries: 5,
    /** Before the second attempt; twice as long before each further one. */
    pause: Duration.millis(500)
  })
})

const MAX_REDIRECTS = 5

const BLOCKED =
  "If the hub cannot be reached from here, set SLUICE_MODEL_HUB to a mirror, or copy the files in with --from"

/** The failure that a status means; undefined if the response has the wanted bytes. */
const refusal = (url: string, offset: number, { headers, status }: HttpClientResponse.HttpClientResponse) => {
  const message = `${url} answered ${status}`
  if (status === 429 || status >= 500) return new ServerFailure({ message, status })
  if (status === 206 && headers["content-range"]?.startsWith(`bytes ${offset}-`) !== true)
    return new InvalidResponse({ message: `${url} answered with another range than the requested one` })
  if (status === 200 || status === 206) return undefined
  return new InvalidRequest({ message: `${message}. ${BLOCKED}`, status })
}

/**
 * Writes a file of a model to `target`. `onBytes` is called with the number of bytes so far.
 *
 * **Details.** The bytes are collected in `target.part`, which a later call continues. A file with another length or checksum
 * than the catalogue's is deleted, and fails with `InvalidResponse`.
 */
export const downloadFile = Effect.fn("models.download")(function* (
  model: CatalogueModel,
  file: CatalogueFile,
  url: string,
  target: string,
  onBytes: (bytes: number) => Effect.Effect<void>
) {
  const { idle, pause, retries } = yield* DownloadLimits
  const client = HttpClient.followRedirects(yield* HttpClient.HttpClient, MAX_REDIRECTS)
  const part = `${target}.part`
  const failure = (reason: Parameters<typeof modelFailure>[1]) => modelFailure(model, reason)
  const stalled = () =>
    failure(
      new TimedOut({
        message: `${url} sent nothing for ${Duration.format(idle)}`,
        scope: "attempt",
        after: idle
      })
    )
  const broken = ({ message }: Error) =>
    failure(new Unreachable({ message: `${url}: ${message}. ${BLOCKED}` }))
  const otherFile = (bytes: string) =>
    failure(
      new InvalidResponse({
        message: `${url} has ${bytes} bytes than the ${file.bytes} of the catalogue, so it is another file. A network may answer with a page of its own. ${BLOCKED}`
      })
    )

  /** Appends to the part, or writes it anew where the hub sends the whole file. */
  const receive = Effect.fnUntraced(function* (offset: number) {
    const request = HttpClientRequest.get(url, offset > 0 ? { headers: { range: `bytes=${offset}-` } } : {})
    const response = yield* client.execute(request).pipe(
      // The hub is a third party.
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      Effect.mapError(broken),
      Effect.timeoutOrElse({ duration: idle, orElse: () => Effect.fail(stalled()) })
    )
    if (response.status === 416) return yield* otherFile("fewer")
    const reason = refusal(url, offset, response)
    if (reason !== undefined) return yield* failure(reason)
    const append = response.status === 206
    let written = append ? offset : 0
    const handle = yield* Effect.acquireRelease(
      onFiles(model, () => open(part, append ? "a" : "w")),
      (opened) => Effect.promise(() => opened.close())
    )
    yield* response.stream.pipe(
      Stream.mapError(() => broken(new Error("The connection broke off"))),
      Stream.timeoutOrElse({ duration: idle, orElse: () => Stream.fail(stalled()) }),
      Stream.runForEach((chunk) => {
        written += chunk.length
        if (written > file.bytes) return Effect.fail(otherFile("more"))
        return Effect.andThen(
          onFiles(model, () => handle.writeFile(chunk)),
          onBytes(written)
        )
      })
    )
    if (written < file.bytes) return yield* otherFile("fewer")
  }, Effect.scoped)

  const attempt = Effect.gen(function* () {
    const size = yield* onFiles(model, () => sizeOf(part))
    if (size < file.bytes) yield* receive(size)
  }).pipe(
    // What came is not the beginning of the file.
    Effect.tapError(({ reason }) =>
      reason._tag === "InvalidResponse" ? onFiles(model, () => rm(part, { force: true })) : Effect.void
    )
  )
  yield* attempt.pipe(
    Effect.retry({
      while: ({ isRetryable }) => isRetryable,
      schedule: Schedule.exponential(pause).pipe(Schedule.jittered, Schedule.upTo({ times: retries }))
    })
  )
  yield* keepIfComplete(model, file, part, target, url)
})

/** Moves a complete file to its place if it has the catalogue's checksum, and deletes it otherwise. */
export const keepIfComplete = Effect.fnUntraced(function* (
  model: CatalogueModel,
  file: CatalogueFile,
  part: string,
  target: string,
  source: string
) {
  if ((yield* onFiles(model, () => sha256Of(part))) === file.sha256)
    return yield* onFiles(model, () => rename(part, target))
  yield* onFiles(model, () => rm(part))
  const message = `${source} is not the file of the catalogue: its SHA-256 differs. It was deleted. Pull again, from another source if it happens again`
  return yield* modelFailure(model, new InvalidResponse({ message }))
})
