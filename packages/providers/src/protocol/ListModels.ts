/** The models of a vendor, from its own list. */
import { makeRedact, parseErrorBody, parseJson } from "@sluice/core/client"
import { Effect } from "effect"
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
const PATIENCE = "15 seconds"

/**
 * The models that the key may call, each with its operation. An operation that the vendor does not state is guessed from
 * the name. Models of other operations, such as speech, are left out. The error is a sentence.
 */
export const listModels = (
  settings: DialectSettings
): Effect.Effect<
  ReadonlyArray<{ readonly id: string; readonly operation: OperationName }>,
  string,
  HttpClient.HttpClient
> =>
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
    return yield* Effect.fail(redact(`status ${response.status} at ${url}: ${message || "no reason"}`))
  }).pipe(
    Effect.timeoutOrElse({ duration: PATIENCE, orElse: () => Effect.fail(`no answer within ${PATIENCE}`) }),
    Effect.mapError((error) => (typeof error === "string" ? error : `no answer from ${URL.parse(url)?.host}`))
  )
