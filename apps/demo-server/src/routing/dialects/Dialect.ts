/** The protocols of upstreams. A protocol is one value. What it leaves out works as in the gateway interface. */
import { Context } from "effect"
import type { HttpClientRequest } from "effect/http"

/** The operations of upstreams. */
export type OperationName = "embeddings" | "rerank" | "chat" | "images" | "videos"

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>

/** The status of a task, as in the interface. */
type TaskStatus = "queued" | "in_progress" | "completed" | "failed"

/**
 * How an upstream's protocol differs from the gateway interface.
 *
 * **Details.** Requests are mapped from the interface to the protocol, and everything else from the protocol to the
 * interface. Without a mapping, bodies pass as bytes and are not parsed.
 */
export interface Dialect {
  /** The name in `sluice.config.json`: `upstreams[].protocol`. */
  readonly id: string
  /** Adds the credential; a bearer token when not given. */
  readonly sign?: (
    request: HttpClientRequest.HttpClientRequest,
    apiKey: string
  ) => HttpClientRequest.HttpClientRequest
  /** The path of an operation, below the upstream's address. */
  readonly path?: (operation: OperationName, model: string) => string
  /** The body of a request. */
  readonly request?: (operation: OperationName, body: Fields) => unknown
  /** The body of a successful response, with its usage. */
  readonly response?: (operation: OperationName, body: Fields) => Fields
  /** The data of one event of a chat stream; undefined drops the event. */
  readonly event?: (data: Fields) => Fields | undefined
  /** The `usage` of a response or an event, as in the interface. */
  readonly usage?: (body: Fields) => Fields | undefined
  /** The error in a response with another status than 2xx. */
  readonly error?: (
    body: Fields
  ) => { readonly message: string; readonly code?: string; readonly param?: string } | undefined
  /** Tasks of images and videos. */
  readonly task?: {
    readonly path: (kind: "image" | "video", id: string) => string
    /** The status in a task's body. */
    readonly status: (body: Fields) => TaskStatus
    /** The path of the finished file. */
    readonly file: (id: string) => string
  }
}

/** The gateway interface itself. */
export const gatewayDialect: Dialect = { id: "gateway" }

/** All protocols. A program adds its own by providing a longer list. */
export const Dialects = Context.Reference<ReadonlyArray<Dialect>>("@sluice/demo-server/Dialects", {
  defaultValue: () => [gatewayDialect]
})
