/**
 * Sends valid and nearly valid requests to every endpoint of its own server. No request may cause a 500 or an
 * unhandled rejection; every error has the one shape, and every success matches the contract.
 */
import { ErrorBody } from "@sluice/core/contract"
import { Effect, Exit, Schema } from "effect"
import type { Random } from "../../bench/corpus/Random.ts"
import { type Credential, startServer, type TestServer } from "../demo-server/TestServer.ts"
import { must, type Trial } from "../trials/Trial.ts"
import { asForm, brokenText, brokenValue, oddFiles, oddText, type Sent } from "./Broken.ts"
import { type Endpoint, endpoints } from "./Endpoints.ts"
import { likely } from "./Likely.ts"

/** Requests per round for an endpoint with a body, and for one without. */
const BODIES = 10
const OTHERS = 4

/** Successes and errors of an endpoint. */
export type Counts = Map<string, { succeeded: number; refused: number }>

const isError = (json: unknown) => Exit.isSuccess(Schema.decodeUnknownExit(ErrorBody)(json))
const fields = (error: unknown) =>
  typeof error === "object" && error !== null ? Object.keys(error).toSorted().join() : ""

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const property = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

/** A server under test, with the ids of what was created so that later requests can use them. */
class Siege {
  readonly known = new Map<string, Array<string>>()
  token: string
  readonly server: TestServer["Service"]
  readonly random: Random

  constructor(server: TestServer["Service"], random: Random) {
    this.server = server
    this.random = random
    this.token = server.secrets.accessToken
  }

  private credential(credential: Credential): Record<string, string> {
    if (this.random.next() < 0.02) {
      return {
        authorization: this.random.pick(["Bearer", "Bearer sk-' OR 1=1", "Basic YTpi", "Bearer \u00e9"])
      }
    }
    if (credential === "none") return {}
    return { authorization: `Bearer ${credential === "token" ? this.token : this.server.secrets.apiKey}` }
  }

  private idempotency(): Record<string, string> {
    return this.random.next() < 0.1
      ? { "idempotency-key": this.random.pick(["a", "b", "", "x".repeat(300), "\u00e9"]) }
      : {}
  }

  /** A path segment or query value: known, generated or malformed. */
  private text(family: string, drawn: unknown): string {
    const roll = this.random.next()
    const ids = this.known.get(family) ?? []
    if (roll < 0.4 && ids.length > 0) return ids[this.random.between(0, ids.length - 1)] ?? ""
    if (roll < 0.7) return this.random.pick(oddText)
    // An empty segment or dots would change the path, because the client resolves them.
    return encodeURIComponent(String(drawn).toWellFormed()).replace(/^\.{0,2}$/, "-")
  }

  url({ params, path, query }: Endpoint): string {
    const drawn = params?.(this.random)
    const family = path.split("/:", 1)[0] ?? ""
    const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => this.text(family, property(drawn, name)))
    const asked = Object.entries(query?.(this.random) ?? {}).map(
      ([name, value]) => `${name}=${this.text("", value)}`
    )
    if (this.random.next() < 0.1) asked.push(...asked, "__proto__=1", "%ff=%ff")
    return asked.length === 0 ? filled : `${filled}?${asked.join("&")}`
  }

  private sent({ files, path, payload }: Endpoint): Sent | FormData {
    if (files) return oddFiles(this.random)
    if (payload === undefined) return { body: undefined, headers: {} }
    const drawn = payload(this.random)
    const value = this.ofKnown(path, likely(path, drawn, this.random))
    const roll = this.random.next()
    if (roll < 0.55) return { body: JSON.stringify(value), headers: { "content-type": "application/json" } }
    if (path === "/v1/videos" && roll < 0.65) return asForm(value, this.random)
    if (roll < 0.87) return brokenValue(value, this.random)
    if (roll < 0.97) return brokenText(value, this.random)
    return { body: JSON.stringify(drawn), headers: { "content-type": "application/json" } }
  }

  /** Changes of keys and users use existing ids. */
  private ofKnown(path: string, value: unknown): unknown {
    const drawn = property(value, "id")
    const ids = drawn === undefined ? [] : (this.known.get(path.replace(/\/$/, "")) ?? [])
    const id = ids[this.random.between(0, ids.length)]
    return id === undefined
      ? value
      : { ...(value as object), id: typeof drawn === "number" ? Number(id) : id }
  }

  /** Sends one request and throws if a law is broken. */
  async ask(endpoint: Endpoint, counts: Counts): Promise<void> {
    const { fits, method, name, path } = endpoint
    const url = this.url(endpoint)
    const sent = method === "GET" ? { body: undefined, headers: {} } : this.sent(endpoint)
    const { body, headers } = sent instanceof FormData ? { body: sent, headers: {} } : sent
    const what = () => `${name}: ${url.slice(0, 200)} ${shown(body)} ${JSON.stringify(headers).slice(0, 200)}`
    const response = await fetch(`${this.server.url}${url}`, {
      method,
      ...(body !== undefined && { body }),
      headers: { ...this.credential(endpoint.credential), ...this.idempotency(), ...headers }
    }).catch((cause: unknown) => {
      throw new Error(`no answer to ${what()}`, { cause })
    })
    const text = await response.text()
    const answer = () => `${response.status} ${text.slice(0, 300)} to ${what()}`
    const isJson = /^application\/json\b/.test(response.headers.get("content-type") ?? "")
    const json = isJson ? parse(text) : undefined
    const count = counts.get(name) ?? { succeeded: 0, refused: 0 }
    counts.set(name, count)
    must(response.status < 500, () => `a failure: ${answer()}`)
    must(
      response.headers.get("x-request-id")?.startsWith("req_") === true,
      () => `no request id: ${answer()}`
    )
    if (response.status >= 400) {
      count.refused += 1
      const all = fields(property(json, "error")) === "code,message,param,type"
      must(isError(json) && all, () => `not the shape of an error: ${answer()}`)
      return
    }
    count.succeeded += 1
    must(!isJson || fits === undefined || fits(json), () => `does not match the contract: ${answer()}`)
    await this.learn(path, url, json)
  }

  private async learn(path: string, url: string, json: unknown): Promise<void> {
    const data = property(json, "data")
    if (path === "/api/user/token" && typeof data === "string") this.token = data
    const documents = property(json, "documents")
    const made = Array.isArray(documents) ? documents : [json, data]
    const ids = made.map((one) => property(one, "id")).filter((id) => id !== undefined)
    const family = path.replace(/\/$/, "")
    const known = this.known.get(family) ?? []
    // A video takes seconds of CPU: create one only.
    if (path === "/v1/videos" && known.length > 0) {
      const headers = { authorization: `Bearer ${this.server.secrets.apiKey}` }
      for (const id of ids)
        await fetch(`${this.server.url}${path}/${String(id)}`, { method: "DELETE", headers })
    } else if (url.startsWith(path)) this.known.set(family, [...new Set([...known, ...ids.map(String)])])
  }
}

const shown = (body: unknown): string => {
  if (body instanceof FormData) return JSON.stringify([...body.keys()])
  const text = typeof body === "string" ? body : body === undefined ? "" : String(body)
  return text.length > 700 ? `${text.slice(0, 700)}… (${text.length})` : text
}

/** Half of the creating requests come first, so that ids exist; the rest are shuffled. */
const order = (random: Random): ReadonlyArray<Endpoint> =>
  endpoints
    .flatMap((endpoint) =>
      Array.from({ length: endpoint.payload === undefined ? OTHERS : BODIES }, (_, at) => ({
        endpoint,
        place: endpoint.payload !== undefined && at % 2 === 0 ? random.next() - 1 : random.next()
      }))
    )
    .toSorted((a, b) => a.place - b.place)
    .map(({ endpoint }) => endpoint)

/** One round: starts a server, sends requests to each endpoint in random order, and checks that the server still answers. */
export const siege = async (random: Random, counts: Counts): Promise<void> => {
  const rejections: Array<unknown> = []
  const note = (reason: unknown) => void rejections.push(reason)
  process.on("unhandledRejection", note)
  try {
    await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const server = yield* startServer()
          const under = new Siege(server, random)
          for (const endpoint of order(random)) yield* Effect.promise(() => under.ask(endpoint, counts))
          const health = yield* server.call("/healthz", { as: "none" })
          must(health.status === 200, () => `not healthy afterwards: ${health.status}`)
          must(
            !server.printed.some((line) => line.includes("A request failed")),
            () => `it was logged as a failure: ${server.printed.join("\n").slice(0, 2000)}`
          )
        })
      )
    )
  } finally {
    process.off("unhandledRejection", note)
  }
  must(rejections.length === 0, () => `nobody handled ${String(rejections[0])}`)
  must(property(Object.getPrototypeOf({}), "polluted") === undefined, () => "a prototype was polluted")
}

export const fuzz: Trial = (random) => siege(random, new Map())
