/** Links to generated images: `GET /files/{name}` for everyone who has the link, and links in requests. */
import { InvalidRequest } from "@sluice/core"
import { Failure } from "@sluice/core/contract"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ServerConfig } from "../config/ServerConfig.ts"
import { respond } from "../http/HttpErrors.ts"
import { isServerName } from "../network/Origin.ts"
import { MediaFiles } from "./MediaFiles.ts"

/** The path of file links. */
export const FILES_PATH = "/files/"

const final = (status: 404 | 410, code: string, message: string) =>
  respond(new Failure({ status: 404, message, code }), status)

const FILE_EXPIRED = "The file has expired. Generated files are kept for 24 hours"

/** The response for an expired file. */
export const expiredResponse = final(410, "expired", FILE_EXPIRED)

const NO_FILE = "No such file. Use a link from a response"
const notFound = final(404, "file_not_found", NO_FILE)

/** Finds an image by its name. Videos are excluded: they are only for their owner. */
const findImage = (files: MediaFiles["Service"], name: string) =>
  name.endsWith(".mp4") ? Effect.undefined : files.find(name)

export const FilesLayer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const files = yield* MediaFiles
    yield* router.add(
      "GET",
      `${FILES_PATH}:name`,
      Effect.gen(function* () {
        const { url } = yield* HttpServerRequest.HttpServerRequest
        const name = (url.split("?", 1)[0] ?? "").slice(FILES_PATH.length)
        const file = yield* findImage(files, name)
        if (file === undefined) return notFound
        if (file === "expired") return expiredResponse
        return HttpServerResponse.stream(file.stream, {
          contentType: `image/${file.type}`,
          contentLength: file.bytes,
          headers: { "cache-control": "private, no-store", "cross-origin-resource-policy": "cross-origin" }
        })
      })
    )
  })
)

/** An image that a request names and that cannot be read. */
export const invalidImageUrl = (message: string, advice = " Send the image itself as a data URI") =>
  new InvalidRequest({ message: `${message}.${advice}`, code: "invalid_image_url" })

/**
 * Reads the image behind a link to this server; undefined for other text.
 *
 * **Details.** Such a link has the scheme and port of `origin`, at which the server was called, one of the server's names,
 * and the path of a file. It fails where `GET /files/{name}` would, and is never fetched over the network.
 */
export const makeFileLinks = Effect.gen(function* () {
  const files = yield* MediaFiles
  const { data, database, documents, host, operation } = yield* ServerConfig

  const missing = invalidImageUrl(
    database === undefined || documents !== data
      ? NO_FILE
      : "No such file at this server. Files of another server of this database can be used here only with SLUICE_DOCUMENTS"
  )

  const nameIn = (text: string, origin: string): string | undefined => {
    const [link, called] = [URL.parse(text), URL.parse(origin)]
    if (link?.protocol !== called?.protocol || link?.port !== called?.port) return undefined
    if (link === null || !link.pathname.startsWith(FILES_PATH)) return undefined
    const isOwn = link.hostname === called?.hostname || isServerName(link.hostname, host, operation.hosts)
    return isOwn ? link.pathname.slice(FILES_PATH.length) : undefined
  }

  return Effect.fn("FileLinks.read")(function* (text: string, origin: string) {
    const name = nameIn(text, origin)
    if (name === undefined) return undefined
    const file = yield* findImage(files, name)
    if (file === undefined) return yield* missing
    if (file === "expired") return yield* invalidImageUrl(FILE_EXPIRED)
    return yield* Effect.mapError(file.read, () => missing)
  })
})
