/** Runs the contract against a gateway. */
import { Duration, Effect, Random, Redacted } from "effect"
import type { HttpClient } from "effect/http"
import { baseUrlOf } from "../client/call/ClientOptions.ts"
import { concealer } from "../client/call/Conceal.ts"
import { GatewayError, Unauthorized, Unreachable } from "../contract/GatewayError.ts"
import { ask } from "./framework/Ask.ts"
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
import { type CheckedCall, type Report, report } from "./framework/Rule.ts"
import type { ConformanceOptions, Session } from "./framework/Session.ts"

/** Every check, in the order in which they are made: what one makes, those after it use; the last ends a credential. */
export const checks: ReadonlyArray<Check> = [
  ...models,
  embeddings,
  rerank,
  chat,
  ...images,
  ...videos,
  ...user,
  ...tokens,
  ...rotation
]

const MODELS = { method: "GET", path: "/v1/models" } as const
/** Where else the ids of models are looked for. */
const LISTS = ["/api/user/available_models", "/api/models"] as const

/** For a list of models. */
const aside = Duration.seconds(30)

/** A key of somebody, as most gateways make them. */
const ANY_KEY = /\bsk-[\w-]{12,}/g

/** What a gateway's text may do in a report: nothing of a credential, and nothing that a terminal obeys. */
const harmless = (secrets: Session["secrets"]) => {
  const concealers = secrets.map((secret) => concealer(Redacted.value(secret)))
  return (text: string): string =>
    concealers
      .reduce((text, conceal) => conceal(text), text)
      .replaceAll(ANY_KEY, "<redacted>")
      .replaceAll(/\p{Cc}/gu, " ")
}

const harmlessCall = (call: CheckedCall, tell: (text: string) => string): CheckedCall => ({
  ...call,
  rules: call.rules.map((rule) => (rule.detail === undefined ? rule : { ...rule, detail: tell(rule.detail) }))
})

/**
 * Checks a gateway against the contract, call by call and rule by rule.
 *
 * **Details.** Without permission nothing is paid beyond embeddings of a few words, nothing of the account is changed and
 * the system access token stays; what is left out is skipped with its reason. Requests go one after the other, each
 * within its time-out; one that is answered 429 is made again three times. A token that the check has made is removed,
 * also when it is interrupted.
 *
 * **Gotchas.** The `HttpClient` should follow no redirects: the transport of `@sluice/core/client` does not. Fails only
 * when the base URL is none, when nothing answers there at all, or when the API key is refused.
 */
export const checkGateway = Effect.fn("checkGateway")(function* (
  options: ConformanceOptions,
  onCall: (call: CheckedCall) => Effect.Effect<void> = () => Effect.void
): Effect.fn.Return<Report, GatewayError, HttpClient.HttpClient> {
  const baseUrl = yield* baseUrlOf(options.baseUrl)
  const { accessToken, apiKey } = options
  const callable = ask(baseUrl, MODELS, {}, apiKey, aside)
  // A wrong address breaks no rule.
  const first = yield* Effect.mapError(callable, ({ message }) => unreachable(message))
  // Nor does a wrong key.
  if (first.status === 401) return yield* refused()
  const lists =
    accessToken === undefined
      ? []
      : LISTS.map((path) => ask(baseUrl, { method: "GET", path }, {}, accessToken, aside))
  const chosen = yield* chooseModels(options.models ?? {}, [Effect.succeed(first), ...lists])
  const session: Session = {
    baseUrl,
    options,
    run: (yield* Random.nextIntBetween(0x1000_0000, 0xffff_ffff)).toString(16),
    models: { ...chosen },
    secrets: accessToken === undefined ? [apiKey] : [apiKey, accessToken],
    accessToken,
    video: undefined,
    imageTask: undefined,
    token: undefined,
    listed: undefined
  }
  const planned = checks.flatMap((check) => {
    const call = contractCalls.find(({ name }) => name === check.call)
    return call === undefined ? [] : [{ check, call }]
  })
  const run = Effect.forEach(planned, ({ call, check }) =>
    runCheck(check, call, session).pipe(
      Effect.map((checked) => harmlessCall(checked, harmless(session.secrets))),
      Effect.tap(onCall)
    )
  )
  const calls = yield* Effect.ensuring(run, removeTokens(session))
  const tell = harmless(session.secrets)
  const models = Object.entries(chosen).map(([purpose, model]) => [purpose, tell(model)] as const)
  return report(baseUrl, Object.fromEntries(models), calls)
})

const refused = () =>
  new GatewayError({
    operation: "conformance",
    reason: new Unauthorized({
      message: `${MODELS.method} ${MODELS.path} refuses the API key (401): nothing can be said of this gateway without one that it accepts.`
    })
  })

const unreachable = (message: string) =>
  new GatewayError({
    operation: "conformance",
    reason: new Unreachable({ message: `${message}. Check the base URL and the network.` })
  })
