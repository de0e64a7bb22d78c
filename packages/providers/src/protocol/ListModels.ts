/** The models of a vendor, from its own list. */
import { GatewayError, InvalidResponse, TimedOut, Unreachable } from "@sluice/core"
import { makeRedact, parseErrorBody, parseJson } from "@sluice/core/client"
import { reasonOfStatus } from "@sluice/core/contract"
import { Duration, Effect } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import type { VendorModel, OperationName } from "./Dialect.ts"
import { type DialectSettings, joinUrl, secretsOf, sign } from "./DialectClient.ts"
import { gateway } from "./GatewayDialect.ts"
import { itemsAt, textAt } from "./JsonValues.ts"
import { guessOperation } from "./ModelFamilies.ts"

const isOperation = (name = ""): name is OperationName => Object.hasOwn(gateway.operations, name)

/** The ids in a list such as OpenAI's `/v1/models`, with or without its envelope, and the operations that a gateway adds. */
const idsOf = (body: unknown): ReadonlyArray<VendorModel> =>
  itemsAt(Array.isArray(body) ? { data: body } : body, "data").flatMap((model) => {
    const [id, operation] = [textAt(model, "id"), textAt(model, "operation")]
    return id === undefined ? [] : [{ id, ...(isOperation(operation) && { operation }) }]
  })

/** How long a list may take. */
const PATIENCE = Duration.seconds(15)

const failed = (reason: GatewayError["reason"]) =>
  Effect.fail(new GatewayError({ operation: "models", reason }))

/**
 * The models that the key may call, each with its operation. An operation that the vendor does not state is guessed from
 * the name. Models of other operations, such as speech, are left out. An error that is not retryable is one of the settings.
 */
export const listModels = (
  settings: DialectSettings
): Effect.Effect<ReadonlyArray<Required<VendorModel>>, GatewayError, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const { dialect, url } = settings
    const { list, models = {}, operations } = dialect
    const known = Object.entries(models).map(([id, { operation }]) => ({ id, operation }))
    const listed = list === undefined ? known : yield* request(settings, list, joinUrl(url, list.path))
    return listed.flatMap(({ id, operation = models[id]?.operation ?? guessOperation(id) }) =>
      operation !== undefined && operation in operations ? [{ id, operation }] : []
    )
  })

const request = (
  settings: DialectSettings,
  { parse = idsOf }: NonNullable<DialectSettings["dialect"]["list"]>,
  url: string
) =>
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const response = yield* client.execute(sign(HttpClientRequest.get(url), settings))
    const text = yield* response.text
    const body = parseJson(text)
    if (response.status === 200 && body !== undefined) return parse(body)
    const { message = text.replace(/\s+/g, " ").slice(0, 120) } = parseErrorBody(body) ?? {}
    // Some vendors repeat the key or a header in the error.
    const redact = makeRedact(settings.apiKey, ...secretsOf(settings))
    const { status } = response
    const why = redact(`status ${status} at ${url}: ${message || "no reason"}`)
    return yield* failed(
      status < 400 ? new InvalidResponse({ message: why }) : reasonOfStatus({ status, message: why })
    )
  }).pipe(
    Effect.catchTag("HttpClientError", () =>
      failed(new Unreachable({ message: `no answer from ${URL.parse(url)?.host}` }))
    ),
    Effect.timeoutOrElse({
      duration: PATIENCE,
      orElse: () => {
        const message = `no answer within ${Duration.format(PATIENCE)}`
        return failed(new TimedOut({ message, scope: "attempt", after: PATIENCE }))
      }
    })
  )
