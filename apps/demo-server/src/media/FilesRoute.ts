/** `GET /files/{name}`: images that were made here, for whoever was given the link. */
import { Failure } from "@sluice/core/contract"
import { Effect, FileSystem } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { respond } from "../http/HttpErrors.ts"
import { type MediaFile, MediaFiles } from "./MediaFiles.ts"

/** The path of a file's link. */
export const FILES_PATH = "/files/"

const final = (status: 404 | 410, code: string, message: string) =>
  respond(new Failure({ status: 404, message, code, retryable: false }), status)

export const EXPIRED = "It has expired: what is made here can be fetched for 24 hours"

/** What was made here and lives no longer. */
export const expired = final(410, "expired", EXPIRED)

const notFound = final(
  404,
  "file_not_found",
  "There is no such file here: links are those that an answer named, at the server that made them"
)

/** What a name gives whoever has it: an image. A film is its owner's. */
export const imageBehind = (
  files: MediaFiles["Service"],
  name: string
): Effect.Effect<MediaFile | "expired" | undefined> =>
  name.endsWith(".mp4") ? Effect.undefined : files.find(name)

export const FilesLayer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const files = yield* MediaFiles
    const fs = yield* FileSystem.FileSystem
    yield* router.add(
      "GET",
      `${FILES_PATH}:name`,
      Effect.gen(function* () {
        const { url } = yield* HttpServerRequest.HttpServerRequest
        const name = (url.split("?", 1)[0] ?? "").slice(FILES_PATH.length)
        const file = yield* imageBehind(files, name)
        if (file === undefined) return notFound
        if (file === "expired") return expired
        return HttpServerResponse.stream(fs.stream(file.path), {
          contentType: `image/${file.type}`,
          contentLength: file.bytes,
          headers: { "cache-control": "private, no-store", "cross-origin-resource-policy": "cross-origin" }
        })
      })
    )
  })
)
