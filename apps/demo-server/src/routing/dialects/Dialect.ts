/** The protocols that upstreams speak. A protocol is one value; what it leaves out is as the gateway interface has it. */
import { Context } from "effect"
import type { HttpClientRequest } from "effect/http"

/** What an upstream may be asked to do. */
export type OperationName = "embeddings" | "rerank" | "chat" | "images" | "videos"

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>

/** Where a task stands, in the interface's words. */
export type TaskStatus = "queued" | "in_progress" | "completed" | "failed"

/**
 * How an upstream's protocol differs from the gateway interface.
 *
 * **Details.** Requests are mapped from the interface to the protocol, everything else from the protocol to the
 * interface. A mapping that is absent changes nothing, and costs nothing: bodies pass as bytes.
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
  /** The data of one event of a chat stream; undefined leaves the event out. */
  readonly event?: (data: Fields) => Fields | undefined
  /** The tokens that a response or an event reports, as the interface's `usage`. */
  readonly usage?: (body: Fields) => Fields | undefined
  /** The error of a response whose status is not 2xx. */
  readonly error?: (
    body: Fields
  ) => { readonly message: string; readonly code?: string; readonly param?: string } | undefined
  /** Tasks of images and videos. */
  readonly task?: {
    readonly path: (kind: "image" | "video", id: string) => string
    /** The status that a task's body tells. */
    readonly status: (body: Fields) => TaskStatus
    /** The path of the finished file, by the task's id. */
    readonly file: (id: string) => string
  }
}

/** The gateway interface itself: nothing is mapped. */
export const gatewayDialect: Dialect = { id: "gateway" }

/** All protocols by name. A program adds one by providing a longer list. */
export const Dialects = Context.Reference<ReadonlyArray<Dialect>>("@sluice/demo-server/Dialects", {
  defaultValue: () => [gatewayDialect]
})
