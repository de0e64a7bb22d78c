/** Runs the contract against a gateway. */
import { Duration, Effect, Random, Record } from "effect"
import type { HttpClient } from "effect/http"
import { baseUrlOf } from "../client/call/ClientOptions.ts"
import { makeRedact } from "../client/call/Redact.ts"
import { GatewayError, Unauthorized, Unreachable } from "../contract/GatewayError.ts"
import { sendRequest } from "./framework/Request.ts"
import type { Check } from "./framework/Check.ts"
import { chat } from "./checks/Chat.ts"
import { embeddings } from "./checks/Embeddings.ts"
import { images } from "./checks/Images.ts"
import { models } from "./checks/Models.ts"
import { rerank } from "./checks/Rerank.ts"
import { removeTokens, tokens } from "./checks/Tokens.ts"
import { rotation, user } from "./checks/User.ts"
import { videos } from "./checks/Videos.ts"
import { contractCalls } from "./framework/Contract.ts"
import { chooseModels } from "./framework/Models.ts"
import { runCheck } from "./RunCheck.ts"
import { type CheckedCall, type Report, makeReport } from "./framework/Rule.ts"
import type { ConformanceOptions, Session } from "./framework/Session.ts"

/** All checks in order: later ones use what earlier ones create. The last one revokes a credential. */
export const checks: ReadonlyArray<Check> = [
  ...models,
  embeddings,
  rerank,
  chat,
  ...images,
  ...videos,
  user,
  ...tokens,
  rotation
]

const MODELS = "GET /v1/models"
/** Other lists of model ids. */
const LISTS = ["GET /api/user/available_models", "GET /api/models"] as const

const LIST_TIMEOUT = Duration.seconds(30)

/** The usual form of an API key. */
const ANY_KEY = /\bsk-[\w-]{12,}/g

/** Removes credentials and control characters from a gateway's text, for the report. */
const makeSanitizer = (secrets: Session["secrets"]) => {
  const redact = makeRedact(...secrets)
  return (text: string): string =>
    redact(text)
      .replaceAll(ANY_KEY, "<redacted>")
      .replaceAll(/\p{Cc}/gu, " ")
}

const sanitizeCall = (call: CheckedCall, sanitize: (text: string) => string): CheckedCall => ({
  ...call,
  rules: call.rules.map((rule) =>
    rule.detail === undefined ? rule : { ...rule, detail: sanitize(rule.detail) }
  )
})

/**
 * Checks a gateway against the contract, call by call and rule by rule.
 *
 * **Details.** By default the check pays only for embeddings of a few words, does not change the account and keeps the
 * system access token. Skipped calls carry the reason. Requests run one at a time, each with a timeout; a 429 is retried
 * three times. A token that the check created is removed, also after an interruption.
 *
 * **Gotchas.** The `HttpClient` should not follow redirects; the transport of `@sluice/core/client` does not. The check
 * fails only if the base URL is invalid, nothing answers there, or the API key is refused.
 */
export const checkGateway = Effect.fn("checkGateway")(function* (
  options: ConformanceOptions,
  onCall: (call: CheckedCall) => Effect.Effect<void> = () => Effect.void
): Effect.fn.Return<Report, GatewayError, HttpClient.HttpClient> {
  const baseUrl = yield* baseUrlOf(options.baseUrl)
  const { accessToken, apiKey } = options
  const callable = sendRequest(baseUrl, MODELS, {}, apiKey, LIST_TIMEOUT)
  // A wrong address or key is an error of the caller, not a broken rule.
  const first = yield* Effect.mapError(callable, ({ message }) =>
    failure(new Unreachable({ message: `${message}. Check the base URL and the network.` }))
  )
  if (first.status === 401) {
    const message = `${MODELS} refuses the API key (401). The check needs a valid key.`
    return yield* failure(new Unauthorized({ message }))
  }
  const lists =
    accessToken === undefined
      ? []
      : LISTS.map((list) => sendRequest(baseUrl, list, {}, accessToken, LIST_TIMEOUT))
  const chosen = yield* chooseModels(options.models ?? {}, [Effect.succeed(first), ...lists])
  const session: Session = {
    baseUrl,
    options,
    run: (yield* Random.nextIntBetween(0x1000_0000, 0xffff_ffff)).toString(16),
    models: { ...chosen },
    secrets: accessToken === undefined ? [apiKey] : [apiKey, accessToken],
    accessToken
  }
  const planned = checks.flatMap((check) =>
    contractCalls.filter(({ name }) => name === check.call).map((call) => ({ call, check }))
  )
  const run = Effect.forEach(planned, ({ call, check }) =>
    runCheck(check, call, session).pipe(
      Effect.map((checked) => sanitizeCall(checked, makeSanitizer(session.secrets))),
      Effect.tap(onCall)
    )
  )
  const calls = yield* Effect.ensuring(run, removeTokens(session))
  const sanitize = makeSanitizer(session.secrets)
  return makeReport(baseUrl, Record.map(chosen as Report["models"], sanitize), calls)
})

const failure = (reason: Unauthorized | Unreachable) => new GatewayError({ operation: "conformance", reason })
