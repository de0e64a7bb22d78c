/**
 * A client for the gateway interface over a vendor's protocol: it takes requests of the interface, sends the vendor's, and
 * returns responses of the interface. The server and the library use the same one.
 */
import { PACKAGE_VERSION, withoutFinalSlash } from "@sluice/core/contract"
import { parseErrorBody, parseJson } from "@sluice/core/client"
import { Effect, Predicate, Record, Redacted, Struct } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientError, HttpClientResponse } from "effect/http"
import type {
  Dialect,
  ErrorFields,
  Fields,
  InterfaceRequest,
  OperationDialect,
  OperationName,
  RequestBody,
  RequestTools,
  TaskDialect,
  TaskRequest,
  VendorTaskState
} from "./Dialect.ts"
import { interfaceEvents } from "./DialectEvents.ts"
import { gateway } from "./GatewayDialect.ts"
import { makeModelParameters, type ModelParameters } from "./ModelParameters.ts"
import { decodeTaskId, encodeTaskId, stateResponse, type TaskReference } from "./DialectTasks.ts"

type Request = HttpClientRequest.HttpClientRequest
type Response = HttpClientResponse.HttpClientResponse
type Sent = Effect.Effect<Response, HttpClientError.HttpClientError>

/** How one vendor is reached, and what differs there from its dialect. */
export interface DialectSettings {
  readonly dialect: Dialect
  /** With or without a version at its end. */
  readonly url: string
  readonly apiKey: Redacted.Redacted
  /** Paths of operations, below `url`. `{model}` stands for the model. */
  readonly paths?: { readonly [operation in OperationName]?: string }
  /** Headers of each request. `{apiKey}` stands for the key, which is then sent nowhere else. */
  readonly headers?: Readonly<Record<string, string>>
  /** Query parameters of each request. */
  readonly query?: Readonly<Record<string, string>>
  /** Fields of requests that are not sent. */
  readonly drop?: ReadonlyArray<string>
  /** New names of fields of requests. */
  readonly rename?: Readonly<Record<string, string>>
}

export interface DialectConnection extends DialectSettings {
  readonly tools: RequestTools
  /** Fetches results from other hosts than the vendor's, without the key. Default: the given client. */
  readonly files?: HttpClient.HttpClient
}

/** The operations by the interface's paths. */
const OPERATIONS = new Map<string, OperationName>(
  Struct.keys(gateway.operations).map((name) => [gateway.operations[name].path, name])
)

/** The rest of a path is a task, and its file. */
const INTERFACE_PATH = new RegExp(`(${[...OPERATIONS.keys()].join("|")})(?:/([^/]+))?(/content)?$`)

const VERSION = /\/v\d[\w.]*$/

/** An address and a path. The version at the address' end replaces the one at the path's start. */
export const joinUrl = (url: string, path: string): string => {
  const base = withoutFinalSlash(url)
  return base + (VERSION.test(base) ? path.replace(/^\/v\d[\w.]*(?=\/)/, "") : path)
}

const KEY = "{apiKey}"

/** Whether a request is to the vendor. Links and redirects may lead to other hosts, which must not get the key. */
const isToVendor = (request: Request, { url }: DialectSettings): boolean =>
  URL.parse(request.url)?.origin === new URL(url).origin

/** The request with a user agent, unless the program has set one: some firewalls refuse requests without. */
const withAgent = (request: Request): Request =>
  request.headers["user-agent"] === undefined
    ? HttpClientRequest.setHeader(request, "user-agent", `sluice/${PACKAGE_VERSION}`)
    : request

/** Adds the credential in place of the interface's, and the configured headers and query. Other hosts get none of them. */
export const sign = (sent: Request, settings: DialectSettings): Request => {
  const request = withAgent(sent)
  const { apiKey, dialect, headers = {}, query = {} } = settings
  if (!isToVendor(request, settings)) return HttpClientRequest.removeHeader(request, "authorization")
  const key = Redacted.value(apiKey)
  const named = Object.values(headers).some((value) => value.includes(KEY))
  const all = dialect.sign?.(key) ?? { authorization: `Bearer ${key}` }
  // A configured header with the key replaces the credential, and not the others, such as a version.
  const isCredential = (value: string, name: string) => name === "authorization" || value.includes(key)
  const credential = named ? Record.filter(all, (value, name) => !isCredential(value, name)) : all
  return HttpClientRequest.removeHeader(request, "authorization").pipe(
    HttpClientRequest.setHeaders({
      ...credential,
      ...Record.map(headers, (value) => value.replaceAll(KEY, () => key))
    }),
    HttpClientRequest.setUrlParams(query)
  )
}

/** What the client of these settings sends besides the key, and nobody may read in an error. */
export const secretsOf = ({ headers = {}, query = {} }: Pick<DialectSettings, "headers" | "query">) => [
  ...Object.values(headers),
  ...Object.values(query)
]

/** Whether requests pass unchanged, with a bearer token. */
const isPlain = ({ dialect, drop, headers, paths, query, rename }: DialectSettings) =>
  dialect === gateway && [drop, headers, paths, query, rename].every((one) => one === undefined)

/** The address of a request of the interface. A configured path is taken as it is. */
const urlOf = (
  { paths, url }: DialectSettings,
  operation: OperationName,
  path: OperationDialect["path"],
  asked: InterfaceRequest
): string => {
  const configured = paths?.[operation]?.replaceAll("{model}", encodeURIComponent(asked.model))
  if (configured !== undefined) return withoutFinalSlash(url) + configured
  return joinUrl(url, typeof path === "string" ? path : path(asked))
}

/** Headers that describe the vendor's body. */
const OF_BODY = new Set(["content-type", "content-length", "content-encoding", "transfer-encoding"])

/** A response with another JSON body. */
const withJson = (
  response: Response,
  body: unknown,
  status = response.status,
  retryAfter?: number
): Response => {
  const kept = Record.filter(response.headers, (_, name) => !OF_BODY.has(name))
  const headers = { ...kept, ...(retryAfter !== undefined && { "retry-after": `${retryAfter}` }) }
  return HttpClientResponse.fromWeb(response.request, Response.json(body, { status, headers }))
}

/** The response to a request that is not sent. */
const refuse = (request: Request, { status = 400, ...error }: ErrorFields): Sent =>
  Effect.succeed(HttpClientResponse.fromWeb(request, Response.json({ error }, { status })))

const isSuccess = ({ status }: Response) => status >= 200 && status < 300

const jsonOf = (response: Response) => Effect.map(response.text, (text) => ({ text, body: parseJson(text) }))

const errorIn = (
  { error }: Dialect,
  body: unknown,
  status: number
): { readonly [name in keyof ErrorFields]?: ErrorFields[name] | undefined } =>
  error?.(body, status) ?? parseErrorBody(body) ?? {}

/** The vendor's error in the interface's form. A body without one, such as a web page, is left to the client. */
const errorResponse = (response: Response, dialect: Dialect): Sent =>
  Effect.map(jsonOf(response), ({ body }) => {
    const { code, message, param, retryAfterSeconds, status } = errorIn(dialect, body, response.status)
    if (message === undefined) return response
    const error = { message, code, param: dialect.fieldNames?.[param ?? ""] ?? param }
    return withJson(response, { error }, status, retryAfterSeconds)
  })

const decoder = new TextDecoder()

/** The JSON body of a request of the interface. */
const askedOf = ({ body }: Request): InterfaceRequest | undefined => {
  const fields = body._tag === "Uint8Array" ? parseJson(decoder.decode(body.body)) : undefined
  return Predicate.isObject(fields) && typeof fields["model"] === "string"
    ? { ...fields, model: fields["model"] }
    : undefined
}

const withBody = (request: Request, body: Fields | FormData): Request =>
  body instanceof FormData
    ? HttpClientRequest.bodyFormData(HttpClientRequest.removeHeader(request, "content-type"), body)
    : HttpClientRequest.bodyJsonUnsafe(request, body)

/** Sends requests of the vendor, with the key. */
interface Vendor extends DialectConnection {
  readonly client: HttpClient.HttpClient
  readonly parameters: ModelParameters
}

/** Sends a vendor's request that has no counterpart in the interface. */
const send = (vendor: Vendor, { body, method = "GET", path }: TaskRequest): Sent => {
  const request = HttpClientRequest.make(method)(joinUrl(vendor.url, path))
  return vendor.client.execute(sign(body === undefined ? request : withBody(request, body), vendor))
}

/** Whether a response with a status of success has an error. Like a web page, it is left to the client. */
const hasError = (body: object): boolean => "error" in body && Boolean(body.error)

/** The response to a request that creates something. */
const created = (
  { dialect }: Vendor,
  operation: OperationName,
  asked: InterfaceRequest,
  response: Response
): Sent => {
  if (!isSuccess(response)) return errorResponse(response, dialect)
  const { events, response: map, task }: Partial<OperationDialect> = dialect.operations[operation] ?? {}
  const isWhole = /json|html/.test(response.headers["content-type"] ?? "")
  if (events !== undefined && asked["stream"] === true && !isWhole) {
    return Effect.succeed(interfaceEvents(response, events(asked)))
  }
  if (map === undefined && task === undefined) return Effect.succeed(response)
  return Effect.map(jsonOf(response), ({ body }) => {
    if (!Predicate.isObjectOrArray(body)) return response
    const reference = task?.reference(body, asked)
    if (reference === undefined && hasError(body)) return response
    if (reference === undefined) return withJson(response, map?.(body, asked) ?? body)
    const id = encodeTaskId(asked.model, reference)
    return withJson(response, stateResponse(operation, id, asked.model, { status: "in_progress" }))
  })
}

/** The images of one request that are read into memory at most, and their bytes. */
const MAX_IMAGES = 16
const MAX_IMAGE_BYTES = 64 * 1024 * 1024

/** The tools for one request, within those limits. */
const limitedTools = ({ image }: RequestTools): RequestTools => {
  let images = 0
  let size = 0
  const refuse = (message: string) => Effect.fail<ErrorFields>({ message, param: "image" })
  return {
    image: (given) =>
      ++images > MAX_IMAGES
        ? refuse(`A request may have ${MAX_IMAGES} images at most`)
        : Effect.filterOrElse(
            image(given),
            ({ bytes }) => (size += bytes.length) <= MAX_IMAGE_BYTES,
            () => refuse("The images of a request may have 64 MiB together at most")
          )
  }
}

/** Forwards a request of the interface. If the vendor refuses a parameter of a model, it is sent without it from then on. */
const forward = (
  vendor: Vendor,
  request: Request,
  operation: OperationName,
  { headers, path, request: map }: OperationDialect
): Sent => {
  const asked = askedOf(request)
  if (asked === undefined)
    return refuse(request, { message: "The request is not a JSON object with a `model`" })
  const mapped = map?.(asked, limitedTools(vendor.tools)) ?? asked
  const at = HttpClientRequest.setUrl(request, urlOf(vendor, operation, path, asked)).pipe(
    HttpClientRequest.setHeaders(headers?.(asked) ?? {})
  )
  const attempt = (body: RequestBody): Sent => {
    const adjusted = body instanceof FormData ? body : vendor.parameters.apply(asked.model, body)
    const sent = adjusted === asked ? at : withBody(at, adjusted)
    return Effect.flatMap(vendor.client.execute(sign(sent, vendor)), (response) =>
      response.status !== 400 || adjusted instanceof FormData
        ? created(vendor, operation, asked, response)
        : Effect.flatMap(jsonOf(response), ({ body: refused }) =>
            vendor.parameters.learn(asked.model, adjusted, refused)
              ? attempt(body)
              : errorResponse(response, vendor.dialect)
          )
    )
  }
  return Effect.matchEffect(Effect.isEffect(mapped) ? mapped : Effect.succeed(mapped), {
    onFailure: (error) => refuse(request, error),
    onSuccess: attempt
  })
}

/** Statuses in place of the results that mean that the task has failed. */
const FAILED: ReadonlySet<number> = new Set([400, 404, 410, 422])

/** The state of a task, or its file. */
const lookUp = (
  vendor: Vendor,
  task: TaskDialect,
  { reference, model }: TaskReference,
  respond: (response: Response, state: VendorTaskState) => Sent
): Sent => {
  const look = (next: TaskRequest, isResult = false): Sent =>
    Effect.flatMap(send(vendor, next), (response) => {
      if (isSuccess(response)) {
        return Effect.flatMap(jsonOf(response), ({ body }) => {
          if (!Predicate.isObjectOrArray(body)) return Effect.succeed(response)
          const state = task.state(body, reference)
          if (state.next === undefined) return respond(response, state)
          if (!isResult) return look(state.next, true)
          const error = { message: "The result has no file", code: "task_failed" }
          return respond(response, { status: "failed", error })
        })
      }
      if (!isResult) return errorResponse(response, vendor.dialect)
      return Effect.flatMap(jsonOf(response), ({ body, text }) => {
        const { status } = response
        if (!FAILED.has(status) && task.isFailure?.(body, status) !== true) {
          return errorResponse(response, vendor.dialect)
        }
        const { code = "task_failed", message = text } = errorIn(vendor.dialect, body, status)
        return respond(withJson(response, body, 200), { status: "failed", error: { message, code } })
      })
    })
  return look(task.status(reference, model))
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** A request for an existing task. */
const forwardTask = (
  vendor: Vendor,
  task: TaskDialect,
  request: Request,
  operation: OperationName,
  id: string,
  isContent: boolean
): Sent => {
  const { dialect, files = vendor.client } = vendor
  const known = decodeTaskId(id)
  if (known === undefined) return refuse(request, { message: "There is no such task", status: 404 })
  if (request.method === "DELETE") {
    if (task.remove === undefined)
      return refuse(request, { message: `${dialect.name} cannot cancel this task`, status: 405 })
    const removal = { method: "DELETE", ...task.remove(known.reference, known.model) } as const
    return Effect.flatMap(send(vendor, removal), (response) =>
      isSuccess(response) ? Effect.succeed(response) : errorResponse(response, dialect)
    )
  }
  return lookUp(vendor, task, known, (response, state) => {
    if (!isContent)
      return Effect.succeed(withJson(response, stateResponse(operation, id, known.model, state)))
    const [file] = state.files ?? []
    if (file === undefined)
      return refuse(request, { message: "The video is not finished, or has expired", status: 404 })
    const fetchFile = (url: string) => files.execute(HttpClientRequest.get(url))
    if (!file.startsWith("/")) return fetchFile(file)
    return Effect.flatMap(send(vendor, { path: file }), (answer) => {
      // A redirect leads to a storage host, which does not get the key.
      const target = REDIRECTS.has(answer.status) ? answer.headers["location"] : undefined
      return target === undefined ? Effect.succeed(answer) : fetchFile(target)
    })
  })
}

/** Makes the client. `client` sends the vendor's requests. */
export const makeDialectClient = (
  client: HttpClient.HttpClient,
  connection: DialectConnection
): HttpClient.HttpClient => {
  const { dialect } = connection
  const isUnchanged = isPlain(connection)
  const vendor: Vendor = { ...connection, client, parameters: makeModelParameters(connection) }
  return HttpClient.makeWith<HttpClientError.HttpClientError, never, HttpClientError.HttpClientError, never>(
    Effect.flatMap((request): Sent => {
      const [, name = "", id, content] = INTERFACE_PATH.exec(URL.parse(request.url)?.pathname ?? "") ?? []
      const operation = OPERATIONS.get(name)
      if (isUnchanged || operation === undefined || !isToVendor(request, connection)) {
        return client.execute(sign(request, connection))
      }
      const one = dialect.operations[operation]
      if (one === undefined)
        return refuse(request, { message: `${dialect.name} has no ${operation}`, status: 404 })
      if (id === undefined) return forward(vendor, request, operation, one)
      // Without tasks of its own, the vendor has the interface's.
      return one.task === undefined
        ? client.execute(sign(request, connection))
        : forwardTask(vendor, one.task, request, operation, decodeURIComponent(id), content !== undefined)
    }),
    Effect.succeed
  )
}
