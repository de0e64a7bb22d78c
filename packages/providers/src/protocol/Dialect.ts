/** How a vendor's protocol differs from the gateway interface. A dialect is one value: what it leaves out, the vendor lacks. */
import type { Effect } from "effect"

/** The operations of vendors. */
export type OperationName = "embeddings" | "rerank" | "chat" | "images" | "videos"

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>

/** A request in the interface's form, with the vendor's name of the model. */
export type InterfaceRequest = Fields & { readonly model: string }

/** An error in the interface's form. `status` replaces the vendor's. */
export interface ErrorFields {
  readonly message: string
  readonly code?: string | undefined
  readonly param?: string | undefined
  readonly status?: number
  /** The wait that the vendor asks for in the body, and in no header. */
  readonly retryAfterSeconds?: number
}

/** The bytes of an image in a request, and their media type. */
export interface ImageBytes {
  readonly bytes: Uint8Array
  readonly mediaType: string
}

/** What the mapping of a request may need. */
export interface RequestTools {
  /** The bytes of an image: a URL, a data URI or Base64. */
  readonly image: (image: string) => Effect.Effect<ImageBytes, ErrorFields>
}

/** JSON, or a multipart form. */
export type RequestBody = Fields | FormData

/** Maps the events of one chat stream. Their data is JSON. `"[DONE]"` ends the stream. */
export interface EventMap {
  readonly push: (event: Fields) => ReadonlyArray<Fields | "[DONE]">
  /** The events after the vendor's last one, if the connection was closed properly. */
  readonly end?: () => ReadonlyArray<Fields | "[DONE]">
}

/** A request for an existing task. */
export interface TaskRequest {
  /** Below the vendor's address. */
  readonly path: string
  /** Default: `GET`. */
  readonly method?: "GET" | "POST" | "PUT" | "DELETE"
  readonly body?: Fields
}

/** The state of a task. */
export interface VendorTaskState {
  readonly status: "queued" | "in_progress" | "completed" | "failed"
  /** 0 to 100. */
  readonly progress?: number | undefined
  readonly error?: { readonly message: string; readonly code?: string } | undefined
  /**
   * The results: absolute URLs, which are fetched without the key; data URIs; or paths below the vendor's address, which
   * are fetched with the key.
   */
  readonly files?: ReadonlyArray<string>
  /** The length of a video in seconds, if the vendor reports it. */
  readonly seconds?: number
  /** Another request whose response has the results. Its body is passed to `state`. See `isFailure`. */
  readonly next?: TaskRequest
}

/** The tasks of an operation. */
export interface TaskDialect {
  /**
   * The vendor's reference of the task that a creation has started: all that later requests need, besides the model.
   * Undefined if the response has the result.
   */
  readonly reference: (body: unknown, asked: InterfaceRequest) => string | undefined
  readonly status: (reference: string, model: string) => TaskRequest
  readonly state: (body: unknown, reference: string) => VendorTaskState
  /** Whether an error in place of the results means that the task has failed. Default: 400, 404, 410 and 422. */
  readonly isFailure?: (body: unknown, status: number) => boolean
  /** Cancels or deletes the task. Vendors without it cannot. */
  readonly remove?: (reference: string, model: string) => TaskRequest
}

/** How one operation differs. Without a mapping, a body passes unchanged. */
export interface OperationDialect {
  /** Below the vendor's address, with the version: `/v1/rerank`. */
  readonly path: string | ((asked: InterfaceRequest) => string)
  /** Headers in addition to those with the key. */
  readonly headers?: (asked: InterfaceRequest) => Readonly<Record<string, string>>
  readonly request?: (
    asked: InterfaceRequest,
    tools: RequestTools
  ) => RequestBody | Effect.Effect<RequestBody, ErrorFields>
  /** The result in the interface's form, with its usage. */
  readonly response?: (body: unknown, asked: InterfaceRequest) => Fields
  /** The events of a chat stream. */
  readonly events?: (asked: InterfaceRequest) => EventMap
  readonly task?: TaskDialect
}

/** A model of a vendor. */
export interface VendorModel {
  readonly id: string
  /** Guessed from the name when not given. */
  readonly operation?: OperationName
}

/** What is known about a model of a vendor, for the library's calls. */
export interface KnownModel {
  readonly operation: OperationName
  /** Texts or documents in one request at most. */
  readonly batch?: number
  /** Tokens of one text at most; longer ones are cut or rejected. */
  readonly tokens?: number
  readonly dimension?: number
  /** Prefixes that an embedding model expects. */
  readonly prefixes?: { readonly query: string; readonly passage: string }
}

export interface Dialect {
  /** The name in `sluice.config.json`. */
  readonly id: string
  /** The vendor's name. */
  readonly name: string
  /** The vendor's address. Without it, the address has to be configured. */
  readonly url?: string
  /** The variable that usually has the key. */
  readonly keyVariable?: string
  /** The headers with the key. Default: `authorization` with a bearer token. */
  readonly sign?: (apiKey: string) => Readonly<Record<string, string>>
  /** Whether embeddings have an `input_type`: `query` or `document`. The library then says which. */
  readonly hasInputType?: boolean
  /** How the vendor lists its models. Without it, only the `models` below are known. */
  readonly list?: {
    readonly path: string
    /** Default: the ids of `data`, as OpenAI does. */
    readonly parse?: (body: unknown) => ReadonlyArray<VendorModel>
  }
  /** Models by their names. */
  readonly models?: Readonly<Record<string, KnownModel>>
  readonly operations: { readonly [name in OperationName]?: OperationDialect }
  /** The error in a response with another status than 2xx, if `parseErrorBody` would not find it. */
  readonly error?: (body: unknown, status: number) => ErrorFields | undefined
  /** The interface's names of fields in errors, by the vendor's. */
  readonly fieldNames?: Readonly<Record<string, string>>
}
