/** Sends the requests of a check and judges every rule of its call. */
import { Duration, Effect, identity } from "effect"
import { type CheckContext, type Check, rulesOf } from "./framework/Check.ts"
import type { ContractCall } from "./framework/Contract.ts"
import { guessedModelNote } from "./framework/Models.ts"
import {
  type CheckRequest,
  type GatewayResponse,
  type NoResponse,
  refusalIn,
  sendRequest
} from "./framework/Request.ts"
import { at, type CheckedCall, failUnless, type RuleResult } from "./framework/Rule.ts"
import type { Permission, Session } from "./framework/Session.ts"

const ERROR_FIELDS = ["message", "type", "param", "code"]

const errorBodyFault = ({ json }: GatewayResponse): string | undefined => {
  const missing = ERROR_FIELDS.filter((field) => at(json, "error", field) === undefined)
  return missing.length === 0 ? undefined : `missing: ${missing.map((field) => `error.${field}`).join(", ")}`
}

const PERMISSIONS: Readonly<Record<Permission, string>> = {
  paid: "it may cost more than an embedding: allow it with --paid",
  write: "it changes the account: allow it with --write",
  rotate: "it revokes the system access token: allow it with --rotate"
}

/** Why a call may not be made. */
const missingPermission = ({ needs }: Check, call: ContractCall, { accessToken, options }: Session) => {
  if (call.credential === "accessToken" && accessToken === undefined) return "it needs --access-token"
  return needs !== undefined && options[needs] !== true ? PERMISSIONS[needs] : undefined
}

const TIMEOUT = Duration.minutes(1)
const PAID_TIMEOUT = Duration.minutes(5)
const RATE_LIMITED = "the gateway answers 429, too many requests: try again later"

/** True if a refusal may concern the model, not the credential or the gateway's health. */
const mayConcernModel = ({ status }: GatewayResponse): boolean =>
  status < 500 && status !== 401 && status !== 429

type JudgeResponse = (response: GatewayResponse) => string | undefined

const expectRefused =
  (judgeRefusal: JudgeResponse = () => undefined, what = "it"): JudgeResponse =>
  (response) =>
    refusalIn(response) === undefined
      ? `${what} succeeded with status ${response.status}`
      : judgeRefusal(response)

/** The verdicts of one call. */
const makeVerdicts = (check: Check, call: ContractCall) => {
  const rules = rulesOf(check, call)
  const verdicts = new Map<string, Pick<RuleResult, "verdict" | "detail">>()
  const judge = (rule: string, fault: string | undefined) =>
    void verdicts.set(
      rule,
      fault === undefined ? { verdict: "conforms" } : { verdict: "fails", detail: fault }
    )
  const expect = (rule: string, holds: boolean, fault: string) => judge(rule, failUnless(holds, fault))
  const skip = (rule: string, why: string) => void verdicts.set(rule, { verdict: "skipped", detail: why })
  /** Rules without a verdict are skipped with the given reason. */
  const finish = (reason: string, skipped?: string): CheckedCall => ({
    call: call.name,
    rules: Object.entries(rules).map(([rule, { kind, says, section }]) => ({
      rule,
      kind,
      section,
      says,
      ...(verdicts.get(rule) ?? { verdict: "skipped", detail: reason })
    })),
    ...(skipped !== undefined && { skipped })
  })
  /** Judges a rule by a response. A 429 skips it, and so does a 5xx or no response unless `failure`. */
  const judgeBy = (rule: string, failure: boolean, judgeResponse: JudgeResponse) =>
    Effect.match({
      onFailure: ({ message }: NoResponse) => {
        if (failure) judge(rule, message)
        else skip(rule, message)
        return undefined
      },
      onSuccess: (response: GatewayResponse) => {
        const { status } = response
        if (status === 429) skip(rule, RATE_LIMITED)
        else if (!failure && status >= 500) skip(rule, `status ${status} says nothing about it`)
        else judge(rule, judgeResponse(response))
        return response
      }
    })
  return { expect, finish, judge, judgeBy, skip, verdicts }
}

type Verdicts = ReturnType<typeof makeVerdicts>

/** Judges the headers and the body of the first success. Returns why the check cannot go on, or undefined. */
const judgeSuccess = Effect.fnUntraced(function* (
  { expect, judge, skip }: Verdicts,
  check: Check,
  call: ContractCall,
  response: GatewayResponse
) {
  expect("requestId", response.headers["x-request-id"] !== undefined, "it carries none")
  if (response.text === "" && call.mayBeEmpty) {
    judge("form", undefined)
    skip("contentType", "the response has no body")
  } else if (call.decode !== undefined) {
    const type = response.headers["content-type"] ?? "not labelled"
    expect("contentType", type.startsWith("application/json"), `it is ${type}`)
    const fault =
      response.json === undefined
        ? "the response is not JSON"
        : yield* Effect.match(call.decode(response.json), { onFailure: identity, onSuccess: () => undefined })
    judge("form", fault)
    if (fault !== undefined && check.form.kind === "interface") {
      return "its response does not match the contract's schema"
    }
  }
  return undefined
})

/** Judges a call without a credential and with the wrong one. */
const judgeCredentials = Effect.fnUntraced(function* (
  { expect, judge, judgeBy, skip }: Verdicts,
  send: (credential: Session["secrets"][number] | undefined) => ReturnType<typeof sendRequest>,
  other: Session["secrets"][number] | undefined
) {
  const anonymous = yield* judgeBy("anonymous", false, expectRefused())(send(undefined))
  if (anonymous !== undefined && refusalIn(anonymous) !== undefined) {
    expect("status", anonymous.status === 401, `status ${anonymous.status}`)
    judge("errorBody", errorBodyFault(anonymous))
  }
  if (other === undefined) skip("otherCredential", "it needs --access-token")
  else yield* judgeBy("otherCredential", false, expectRefused())(send(other))
})

/** Runs one check. A call that may not or cannot be made is skipped with all its rules and the reason. */
export const runCheck = Effect.fnUntraced(function* (check: Check, call: ContractCall, session: Session) {
  const results = makeVerdicts(check, call)
  const { expect, finish, judge, judgeBy, skip, verdicts } = results
  const denied = missingPermission(check, call, session)
  if (denied !== undefined) return finish(denied, denied)
  const request = check.request(session)
  if (typeof request === "string") return finish(request, request)

  const { apiKey, timeout: given } = session.options
  const [credential, other] =
    call.credential === "apiKey" ? [apiKey, session.accessToken] : [session.accessToken, apiKey]
  const timeout = Duration.fromInputUnsafe(given ?? (check.needs === "paid" ? PAID_TIMEOUT : TIMEOUT))
  const send: CheckContext<string>["send"] = (request: CheckRequest, as = {}) =>
    sendRequest(session.baseUrl, as.call ?? call.name, request, as.credential ?? credential, timeout)
  const expectRefusal: CheckContext<string>["expectRefusal"] = (rule, request, judgeRefusal, as) =>
    Effect.asVoid(judgeBy(rule, false, expectRefused(judgeRefusal))(send(request, as)))
  const guess = guessedModelNote(session, check.model)
  const expectSuccess: CheckContext<string>["expectSuccess"] = (rule, request, judgeAnswer, as) =>
    Effect.map(
      judgeBy(rule, true, (response) => refusalIn(response) ?? judgeAnswer(response))(send(request, as)),
      (response) => {
        if (response === undefined) return undefined
        const refusal = refusalIn(response)
        if (refusal === undefined) return response
        if (guess !== undefined && as?.triesModel === true && mayConcernModel(response)) {
          skip(rule, `${guess} (${refusal})`)
        }
        return undefined
      }
    )

  const sendAs = (secret: Session["secrets"][number] | undefined) =>
    sendRequest(session.baseUrl, call.name, request, secret, timeout)
  yield* judgeCredentials(results, sendAs, other)
  const response = yield* expectSuccess("answers", request, () => undefined, { triesModel: true })
  if (response === undefined) {
    if (guess === undefined || verdicts.get("answers")?.verdict !== "skipped") {
      return finish("its valid request was not answered with success")
    }
    // Later checks must not use the guessed model again.
    if (check.model !== undefined) session.models[check.model] = undefined
    return finish(guess)
  }
  const fault = yield* judgeSuccess(results, check, call, response)
  if (fault !== undefined) return finish(fault)
  const judges = { judge, expect, skip, expectSuccess, expectRefusal }
  const stopped = yield* check.run({ session, response, send, ...judges })
  for (const [rule, refusal] of Object.entries(check.rules)) {
    if (!("changes" in refusal) || verdicts.has(rule)) continue
    const { changes, judge } = refusal
    const bodies = typeof changes === "function" ? changes(session) : changes
    if (typeof bodies === "string") skip(rule, bodies)
    else
      for (const change of bodies) {
        const what = bodies.length === 1 ? undefined : JSON.stringify(change)
        const changed = { ...request, body: { ...request.body, ...change } }
        yield* judgeBy(rule, false, expectRefused(judge, what))(send(changed))
        if (verdicts.get(rule)?.verdict !== "conforms") break
      }
  }
  return finish(stopped ?? "an earlier step of the check did not succeed")
})
