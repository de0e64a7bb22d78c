/** Links to this server's own files in requests: read from the data folder, not over the network. */
import { InvalidRequest } from "@sluice/core"
import { Effect, FileSystem } from "effect"
import { ServerConfig } from "../config/ServerConfig.ts"
import { isServerName } from "../network/Origin.ts"
import { FILE_EXPIRED, FILES_PATH, findImage } from "./FilesRoute.ts"
import { MediaFiles } from "./MediaFiles.ts"

const invalid = (message: string) =>
  new InvalidRequest({
    message: `${message}. Send the image itself as a data URI`,
    code: "invalid_image_url"
  })

/**
 * Reads the image behind a link to this server; undefined for other text.
 *
 * **Details.** Such a link has the scheme and port of `origin`, at which the server was called, one of the server's names,
 * and the path of a file. It fails where `GET /files/{name}` would, and is never fetched over the network.
 */
export const makeFileLinks = Effect.gen(function* () {
  const files = yield* MediaFiles
  const fs = yield* FileSystem.FileSystem
  const { database, host, operation } = yield* ServerConfig

  const missing = invalid(
    database === undefined
      ? "No such file. Use a link from a response, at the server that created it"
      : "No such file at this server. Files of another server of this database can only be used there"
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
    if (file === "expired") return yield* invalid(FILE_EXPIRED)
    return yield* Effect.mapError(fs.readFile(file.path), () => missing)
  })
})
