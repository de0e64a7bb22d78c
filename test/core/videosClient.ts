/** What the tests of videos share: a client of the loopback gateway, a film, a folder. */
import { Gateway, type VideoCall } from "@sluice/core"
import { Effect, FileSystem } from "effect"
import { type Behaviour, json } from "./LoopbackGateway.ts"
import { clientOf } from "./tasksClient.ts"
import { mp4 } from "./videosHandlers.ts"

export const MAX_RESPONSE_BYTES = 2000
export const Client = clientOf(MAX_RESPONSE_BYTES)

export const videos = Effect.map(Gateway, (gateway) => gateway.videos)
export const call: VideoCall = {
  group: "V-A",
  model: "v",
  prompt: "A lock opens",
  seconds: "8",
  size: "1280x720"
}

/** Answers a creation with `queued`, then a look with each of these, the last one for ever. */
export const states =
  (...looks: ReadonlyArray<object | Behaviour>): Behaviour =>
  (seen, response, nth) => {
    if (seen.method === "POST") return json(response, { id: "v-1", status: "queued" })
    const look = looks[Math.min(nth - 1, looks.length - 1)] ?? {}
    return typeof look === "function" ? look(seen, response, nth) : json(response, { id: "v-1", ...look })
  }

export const film = mp4(4000)

export const sendFilm: Behaviour = (_, response) => {
  response.writeHead(200, { "content-type": "video/mp4", "content-length": film.length })
  response.end(film)
}

/** A folder of the test's own, and what lies in it. */
export const folder = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const path = yield* files.makeTempDirectoryScoped({ prefix: "sluice-videos-" })
  return { path, file: `${path}/film.mp4`, listed: files.readDirectory(path), files }
})
