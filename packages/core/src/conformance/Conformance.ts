/** Runs the contract against a gateway. */
import { Duration, Effect, Random, Redacted } from "effect"
import type { HttpClient } from "effect/http"
import { baseUrlOf } from "../client/ClientOptions.ts"
import { concealer } from "../client/Conceal.ts"
import type { GatewayError } from "../GatewayError.ts"
import { ask } from "./Ask.ts"
import { type Check, runCheck } from "./Check.ts"
import { chat } from "./checks/Chat.ts"
import { embeddings } from "./checks/Embeddings.ts"
import { images } from "./checks/Images.ts"
import { models } from "./checks/Models.ts"
import { rerank } from "./checks/Rerank.ts"
import { tokens } from "./checks/Tokens.ts"
import { rotation, user } from "./checks/User.ts"
import { videos } from "./checks/Videos.ts"
import { contractCalls } from "./Contract.ts"
import { chooseModels } from "./Models.ts"
import { type CheckedCall, type Report, report } from "./Rule.ts"
import type { ConformanceOptions, Session } from "./Session.ts"

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

const LISTS = [
  { method: "GET", path: "/v1/models", credential: "apiKey" },
  { method: "GET", path: "/api/user/available_models", credential: "accessToken" },
  { method: "GET", path: "/api/models", credential: "accessToken" }
] as const

/** For a list of models, and for removing what a check has made. */
const aside = Duration.seconds(30)

/** Nothing of a credential in any text, whatever the gateway echoed. */
const conceal = (secrets: Session["secrets"], call: CheckedCall): CheckedCall => {
  const concealers = secrets.map((secret) => concealer(Redacted.value(secret)))
  const hide = (text: string) => concealers.reduce((text, conceal) => conceal(text), text)
  return {
    ...call,
    rules: call.rules.map((rule) =>
      rule.detail === undefined ? rule : { ...rule, detail: hide(rule.detail) }
    )
  }
}

/**
 * Checks a gateway against the contract, call by call and rule by rule.
 *
 * **Details.** Without permission nothing is paid beyond embeddings of a few words, nothing of the account is changed and
 * the system access token stays; what is left out is skipped with its reason. Requests go one after the other, each
 * within its time-out; one that is answered 429 is made again three times. A token that the check has made is removed,
 * also when it is interrupted.
 *
 * **Gotchas.** The `HttpClient` should follow no redirects: the transport of `@sluice/core/client` does not. Fails only
 * when the base URL is none; a gateway that does not answer is a report.
 */
export const checkGateway = Effect.fn("checkGateway")(function* (
  options: ConformanceOptions,
  onCall: (call: CheckedCall) => Effect.Effect<void> = () => Effect.void
): Effect.fn.Return<Report, GatewayError, HttpClient.HttpClient> {
  const baseUrl = yield* baseUrlOf(options.baseUrl)
  const { accessToken, apiKey } = options
  const credentials = { apiKey, accessToken }
  const lists = LISTS.flatMap(({ credential, ...call }) =>
    credentials[credential] === undefined ? [] : [ask(baseUrl, call, {}, credentials[credential], aside)]
  )
  const session: Session = {
    baseUrl,
    options,
    run: (yield* Random.nextIntBetween(0x1000_0000, 0xffff_ffff)).toString(16),
    models: yield* chooseModels(options.models ?? {}, lists),
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
      Effect.map((checked) => conceal(session.secrets, checked)),
      Effect.tap(onCall)
    )
  )
  const calls = yield* Effect.ensuring(run, removeToken(session))
  return report(baseUrl, session.models, calls)
})

/** Removes the token that the check has made, should it still be there. */
const removeToken = (session: Session) =>
  Effect.suspend(() => {
    const { accessToken, token } = session
    if (token === undefined) return Effect.void
    const call = { method: "DELETE", path: "/api/token/{}" } as const
    return Effect.ignore(ask(session.baseUrl, call, { params: [String(token.id)] }, accessToken, aside))
  })
