/** A vendor of images and videos on two loopback origins: its API, and the host of its files. */
import { Effect } from "effect"
import type { IncomingHttpHeaders, ServerResponse } from "node:http"
import { loopback } from "../../demo-server/Loopback.ts"

export type Fields = Readonly<Record<string, unknown>>

export interface VendorRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** The JSON body. */
  readonly fields: Fields
  readonly bytes: Buffer
}

export interface Reply {
  readonly status?: number
  readonly json?: unknown
  readonly file?: { readonly type: string; readonly bytes: Uint8Array }
  readonly headers?: Record<string, string>
}

/** A PNG of one pixel. */
export const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)

/** The boxes of an MP4: its type, an empty index, and a text as its data. */
export const MP4 = Buffer.concat([
  Buffer.from([0, 0, 0, 24]),
  Buffer.from("ftypisom\0\0\0\0isommp42"),
  Buffer.from("\0\0\0\x08moov"),
  Buffer.from([0, 0, 0, 25]),
  Buffer.from("mdata film of a barge")
])

const isJson = (type: string | undefined) => /json/.test(type ?? "")

const send = (response: ServerResponse, { file, headers, json, status = 200 }: Reply) => {
  const type = file?.type ?? (json === undefined ? undefined : "application/json")
  response.writeHead(status, { ...(type !== undefined && { "content-type": type }), ...headers })
  response.end(file?.bytes ?? (json === undefined ? undefined : JSON.stringify(json)))
}

const NO_JSON = { type: "text/html", bytes: Buffer.from("<h1>Internal Server Error</h1>") }

/** The prompts that make a fake refuse a request, or fail a task. */
export const asksFor = (
  prompt: unknown,
  what: "moderation" | "no credits" | "rate limit" | "failed task" | "moderated task"
): boolean => String(prompt).includes(what)

/** A task of a fake. It moves on with each poll. */
export interface FakeTask {
  readonly id: string
  readonly request: Fields
  readonly path: string
  polls: number
}

/** The tasks of a fake. `poll` counts from 1; a task waits, then runs, then ends at the third poll. */
export const makeFakeTasks = (makeId: (at: number) => string) => {
  const tasks = new Map<string, FakeTask>()
  return {
    create: ({ fields, path }: Pick<VendorRequest, "fields" | "path">): FakeTask => {
      const task = { id: makeId(tasks.size + 1), request: fields, path, polls: 0 }
      tasks.set(task.id, task)
      return task
    },
    poll: (id: string | undefined): FakeTask | undefined => {
      const task = tasks.get(id ?? "")
      if (task !== undefined) task.polls++
      return task
    },
    isEnded: (id: string | undefined) => (tasks.get(id ?? "")?.polls ?? 0) > 2,
    remove: (id: string | undefined) => tasks.delete(id ?? "")
  }
}

/** `waiting`, `running`, or the end of a task. */
export const stepOf = <A>({ polls }: FakeTask, waiting: A, running: A, ended: A): A =>
  polls <= 1 ? waiting : polls === 2 ? running : ended

/** Starts a vendor. `files`: the origin of its files, which end in `.mp4` or `.png`. */
export const startMediaVendor = Effect.fnUntraced(function* (
  makeAnswer: (
    files: string,
    own: () => string
  ) => (request: VendorRequest) => Reply | undefined | Promise<Reply | undefined>
) {
  const fileRequests: Array<{ readonly path: string; readonly headers: IncomingHttpHeaders }> = []
  const files = yield* loopback(({ headers, path, response }) => {
    fileRequests.push({ path, headers })
    const isFilm = path.split("?")[0]?.endsWith(".mp4") === true
    send(response, { file: isFilm ? { type: "video/mp4", bytes: MP4 } : { type: "image/png", bytes: PNG } })
  })
  const requests: Array<VendorRequest> = []
  let own = ""
  let isHeld = false
  const answer = makeAnswer(files.url, () => own)
  const api = yield* loopback(({ bytes, headers, method, path, response }) => {
    const url = new URL(path, "http://vendor")
    const fields =
      bytes.length > 0 && isJson(headers["content-type"]) ? (JSON.parse(bytes.toString()) as Fields) : {}
    const request = { method, path: url.pathname, query: url.searchParams, headers, fields, bytes }
    requests.push(request)
    if (isHeld) return
    if (bytes.includes("a broken vendor")) return send(response, { status: 500, file: NO_JSON })
    void Promise.resolve(answer(request)).then((reply) =>
      send(response, reply ?? { status: 404, json: { detail: "Not Found", message: "Not Found" } })
    )
  })
  own = api.url
  return {
    url: api.url,
    files: files.url,
    requests: requests as ReadonlyArray<VendorRequest>,
    fileRequests: fileRequests as ReadonlyArray<(typeof fileRequests)[number]>,
    /** Answers no request any more. */
    hold: () => void (isHeld = true),
    /** The requests that create something. */
    creations: () =>
      requests.filter(({ method, path }) => method === "POST" && !/status|fetch|cancel/.test(path))
  }
})

export type MediaVendor = Effect.Success<ReturnType<typeof startMediaVendor>>
