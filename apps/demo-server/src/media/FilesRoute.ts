/** `GET /files/{name}`: generated images, for everyone who has the link. */
import { Failure } from "@sluice/core/contract"
import { Effect, FileSystem } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { respond } from "../http/HttpErrors.ts"
import { type MediaFile, MediaFiles } from "./MediaFiles.ts"

/** The path of file links. */
export const FILES_PATH = "/files/"

const final = (status: 404 | 410, code: string, message: string) =>
  respond(new Failure({ status: 404, message, code }), status)

export const FILE_EXPIRED = "The file has expired. Generated files are kept for 24 hours"

/** The response for an expired file. */
export const expiredResponse = final(410, "expired", FILE_EXPIRED)

const notFound = final(
  404,
  "file_not_found",
  "No such file. Use a link from a response, at the server that created it"
)

/** Finds an image by its name. Videos are excluded: they are only for their owner. */
export const findImage = (
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
        const file = yield* findImage(files, name)
        if (file === undefined) return notFound
        if (file === "expired") return expiredResponse
        return HttpServerResponse.stream(fs.stream(file.path), {
          contentType: `image/${file.type}`,
          contentLength: file.bytes,
          headers: { "cache-control": "private, no-store", "cross-origin-resource-policy": "cross-origin" }
        })
      })
    )
  })
)
