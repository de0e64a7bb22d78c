/** Sends requests to one upstream gateway, one attempt each. Responses are not decoded. */
import {
  type ApiKey,
  type GatewayError,
  type GatewayReason,
  InvalidRequest,
  InvalidResponse,
  RETRY_NEVER,
  ServerFailure
} from "@sluice/core"
import {
  type CallInfo,
  type CallResult,
  DownloadTransport,
  sendAndDecode,
  makeCaller,
  type AttemptFailure,
  BufferResponse,
  reasonOfErrorDetails,
  withActualType
} from "@sluice/core/client"
import { Duration, Effect, Redacted } from "effect"
import { HttpClient, type HttpClientRequest, type HttpServerResponse } from "effect/http"
import {
  type Dialect,
  type DialectSettings,
  gateway as gatewayDialect,
  makeDialectClient,
  secretsOf
} from "@sluice/providers"
import { ServerAddressPolicy } from "../network/PublicFile.ts"
import { makeFileClient, requestTools } from "./RequestTools.ts"
import { makeRedactor } from "./RedactCredential.ts"
import { rewordConfigurationErrors } from "./UpstreamFaults.ts"
import { type NoResult, forwardVideo, type ReadResponse } from "./UpstreamResponse.ts"

type Response = HttpServerResponse.HttpServerResponse

const SUCCESS = 200

/** How an upstream is reached. */
export interface UpstreamConnection extends Omit<DialectSettings, "dialect"> {
  readonly apiKey: ApiKey
  /** For models without a timeout of their own: until the whole response, or the head of a stream. */
  readonly timeout: Duration.Duration
  /** How long a stream may send nothing. */
  readonly idle: Duration.Duration
  /** The names of these settings in messages. */
  readonly names: { readonly url: string; readonly apiKey: string }
  /** The upstream's protocol. Default: the gateway interface. */
  readonly dialect?: Dialect
}

/** A request, and how its response is read. */
export interface UpstreamRequest {
  readonly about: CallInfo
  readonly request: HttpClientRequest.HttpClientRequest
  readonly read: ReadResponse
  readonly limit?: Duration.Duration | undefined
  /** The response may be a stream, so it is not buffered. */
  readonly stream?: boolean
  /** Errors that are not reworded. */
  readonly expected?: (error: GatewayError) => boolean
}

/** The reason for a response with status 200 that has no result. */
const reasonOf = ({ contentType, error }: NoResult, url: string): GatewayReason => {
  if (error === "nothing") {
    const message = "The gateway returned status 200 without a result"
    return new ServerFailure({ message, status: SUCCESS })
  }
  if (!error) {
    const what = `${contentType || "no content-type"} instead of a JSON object. Check ${url}`
    return new InvalidResponse({ message: `The gateway returned ${what}` })
  }
  const reason = reasonOfErrorDetails(error)
  if (reason._tag !== "ServerFailure") return reason
  const { code, param } = error
  // An error about a field is the caller's.
  if (param !== undefined) return new InvalidRequest({ message: reason.message, param, code })
  // A code that is a status says whose fault it is.
  if (Number(code) >= 500) return reason
  const message = `The gateway returned status 200 with an error: ${reason.message}`
  return code === undefined
    ? new ServerFailure({ message, status: SUCCESS, final: true })
    : new InvalidResponse({ message })
}

/** Sends requests to an upstream. Errors are reworded where they concern the server's credential or address. */
export const makeUpstreamClient = Effect.fnUntraced(function* (gateway: UpstreamConnection) {
  const { apiKey, names, timeout, url } = gateway
  const secrets = secretsOf(gateway)
  const policy = yield* ServerAddressPolicy
  const connection = {
    dialect: gatewayDialect,
    ...gateway,
    tools: requestTools(policy),
    files: makeFileClient(policy, url)
  }
  const buffering = makeDialectClient(yield* HttpClient.HttpClient, connection)
  const downloading = makeDialectClient(yield* DownloadTransport, connection)
  // There is one attempt: its limit is that of the call.
  const callerOf = (attemptTimeout: Duration.Duration) =>
    makeCaller({ retry: RETRY_NEVER, attemptTimeout, callTimeout: Duration.infinity, secrets }, apiKey)
  const callers = new Map<number, ReturnType<typeof callerOf>>()
  const callerWithin = (limit: Duration.Duration) => {
    const millis = Duration.toMillis(limit)
    const caller = callers.get(millis) ?? callerOf(limit)
    callers.set(millis, caller)
    return caller
  }
  const reword = rewordConfigurationErrors(names)

  const checked = ({
    requestId,
    value
  }: CallResult<Response | NoResult>): Effect.Effect<CallResult<Response>, AttemptFailure> => {
    if (!("error" in value)) return Effect.succeed({ value, requestId })
    const reason = reasonOf(value, names.url)
    return Effect.fail({ reason, requestId, notExecuted: reason._tag === "RateLimited" })
  }

  const send = ({
    about,
    expected,
    limit = timeout,
    read,
    request,
    stream = false
  }: UpstreamRequest): Effect.Effect<Response, GatewayError> => {
    const client = read === forwardVideo ? downloading : buffering
    const sent = client.execute(request)
    const typed = stream ? Effect.flatMap(sent, withActualType) : sent
    const result = Effect.flatMap(sendAndDecode(typed, read), checked)
    const attempt =
      stream || read === forwardVideo ? result : Effect.provideService(result, BufferResponse, true)
    return Effect.mapError(callerWithin(limit).call(about, attempt), (error) =>
      expected?.(error) === true ? error : reword(error)
    )
  }
  return { send, redactor: makeRedactor(Redacted.value(apiKey), secrets) }
})
