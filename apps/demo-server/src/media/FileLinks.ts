/** Links that this server has made, when they come back in a call: read from its folder, and not over the network. */
import { InvalidRequest } from "@sluice/core"
import { Effect, FileSystem } from "effect"
import { ServerConfig } from "../config/ServerConfig.ts"
import { isServerName } from "../network/Origin.ts"
import { EXPIRED, FILES_PATH, imageBehind } from "./FilesRoute.ts"
import { MediaFiles } from "./MediaFiles.ts"

const refuse = (message: string) =>
  new InvalidRequest({
    message: `${message}. Send the image itself as a data URI instead`,
    code: "invalid_image_url"
  })

/**
 * Reads the image behind a link of this server; undefined where a text is none.
 *
 * **Details.** A link of this server has the scheme and the port by which it is called (`origin`), that name or another
 * of its own, and the path of a file. What `GET /files/{name}` would not give is refused: nobody else is asked for it.
 */
export const ownLinks = Effect.gen(function* () {
  const files = yield* MediaFiles
  const fs = yield* FileSystem.FileSystem
  const { database, host, operation } = yield* ServerConfig

  const missing = refuse(
    database === undefined
      ? "There is no such file here: links are those that an answer named, at the server that made them"
      : "There is no such file at this server: what another of its database has made is read there alone"
  )

  const nameIn = (text: string, origin: string): string | undefined => {
    const [link, called] = [URL.parse(text), URL.parse(origin)]
    if (link?.protocol !== called?.protocol || link?.port !== called?.port) return undefined
    if (link === null || !link.pathname.startsWith(FILES_PATH)) return undefined
    const isOurs = link.hostname === called?.hostname || isServerName(link.hostname, host, operation.hosts)
    return isOurs ? link.pathname.slice(FILES_PATH.length) : undefined
  }

  return Effect.fn("OwnLinks.read")(function* (text: string, origin: string) {
    const name = nameIn(text, origin)
    if (name === undefined) return undefined
    const file = yield* imageBehind(files, name)
    if (file === undefined) return yield* missing
    if (file === "expired") return yield* refuse(EXPIRED)
    return yield* Effect.mapError(fs.readFile(file.path), () => missing)
  })
})
