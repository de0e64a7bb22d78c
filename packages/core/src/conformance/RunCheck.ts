/** Makes the requests of a check, and judges every rule of its call. */
import { Duration, Effect, identity } from "effect"
import { type Answer, ask, refusalOf, type Unanswered } from "./framework/Ask.ts"
import { type Check, rulesOf, type Tools } from "./framework/Check.ts"
import type { ContractCall } from "./framework/Contract.ts"
import { at, fault } from "./framework/Json.ts"
import { guessOf } from "./framework/Models.ts"
import type { CheckedCall, Judged } from "./framework/Rule.ts"
import type { Session } from "./framework/Session.ts"

const ERROR_FIELDS = ["message", "type", "param", "code"]

const errorBodyFault = ({ json }: Answer): string | undefined => {
  const missing = ERROR_FIELDS.filter((field) => at(json, "error", field) === undefined)
  return missing.length === 0 ? undefined : `missing: ${missing.map((field) => `error.${field}`).join(", ")}`
}

/** Why a call is not tried at all. */
const forbidden = ({ needs }: Check, call: ContractCall, { accessToken, options }: Session) => {
  if (call.credential === "accessToken" && accessToken === undefined) return "it needs --access-token"
  if (needs === "paid" && options.paid !== true)
    return "it may cost more than an embedding: allow it with --paid"
  if (needs === "write" && options.write !== true) return "it changes the account: allow it with --write"
  if (needs === "rotate" && options.rotate !== true)
    return "it ends the system access token: allow it with --rotate"
  return undefined
}

const TIMEOUT = Duration.minutes(1)
const PAID_TIMEOUT = Duration.minutes(5)
const RATE_LIMITED = "the gateway answers 429, too many requests: try again later"

/** Whether a refusal may mean the model: not the credential, which others take, and not a breakdown. */
const mayBeOfModel = ({ status }: Answer): boolean => status < 500 && status !== 401 && status !== 429

/** A call that may not or cannot be tried is skipped with all its rules, and says why. */
export const runCheck = Effect.fnUntraced(function* (check: Check, call: ContractCall, session: Session) {
  const rules = rulesOf(check, call)
  const judged = new Map<string, Pick<Judged, "verdict" | "detail">>()
  const judge = (rule: string, fault: string | undefined) =>
    void judged.set(rule, fault === undefined ? { verdict: "conforms" } : { verdict: "fails", detail: fault })
  const skip = (rule: string, why: string) => void judged.set(rule, { verdict: "skipped", detail: why })
  const finish = (unreached: string, skipped?: string): CheckedCall => ({
    call: call.name,
    rules: Object.entries(rules).map(([rule, { kind, says, section }]) => ({
      rule,
      kind,
      section,
      says,
      ...(judged.get(rule) ?? { verdict: "skipped", detail: unreached })
    })),
    ...(skipped !== undefined && { skipped })
  })

  const why = forbidden(check, call, session)
  if (why !== undefined) return finish(why, why)
  const request = check.request(session)
  if (typeof request === "string") return finish(request, request)

  const credential = call.credential === "apiKey" ? session.options.apiKey : session.accessToken
  const timeout = Duration.fromInputUnsafe(
    session.options.timeout ?? (check.needs === "paid" ? PAID_TIMEOUT : TIMEOUT)
  )
  const send: Tools<string>["send"] = (request, as = {}) =>
    ask(session.baseUrl, as.call ?? call, request, as.credential ?? credential, timeout)

  /** The rule is judged of the answer, unless it says only that the gateway has no time, or has failed. */
  const judging = (rule: string, failure: boolean, judgement: (answer: Answer) => string | undefined) =>
    Effect.match({
      onFailure: ({ message }: Unanswered) => {
        judge(rule, message)
        return undefined
      },
      onSuccess: (answer: Answer) => {
        if (answer.status === 429) skip(rule, RATE_LIMITED)
        else if (!failure && answer.status >= 500) skip(rule, `status ${answer.status} says nothing about it`)
        else judge(rule, judgement(answer))
        return answer
      }
    })

  const refused =
    (judgeRefusal: (answer: Answer) => string | undefined = () => undefined) =>
    (answer: Answer) =>
      refusalOf(answer) === undefined ? `it was answered with status ${answer.status}` : judgeRefusal(answer)

  const refuses: Tools<string>["refuses"] = (rule, request, judgeRefusal, as) =>
    Effect.asVoid(judging(rule, false, refused(judgeRefusal))(send(request, as)))

  const guess = guessOf(session, check.model)
  const succeeds: Tools<string>["succeeds"] = (rule, request, judgeAnswer, as) =>
    Effect.map(
      judging(rule, true, (answer) => refusalOf(answer) ?? judgeAnswer(answer))(send(request, as)),
      (answer) => {
        if (answer === undefined) return undefined
        const refusal = refusalOf(answer)
        if (refusal === undefined) return answer
        if (guess !== undefined && as?.triesModel === true && mayBeOfModel(answer)) {
          skip(rule, `${guess} (${refusal})`)
        }
        return undefined
      }
    )

  const anonymous = yield* judging(
    "anonymous",
    false,
    refused()
  )(ask(session.baseUrl, call, request, undefined, timeout))
  if (anonymous !== undefined && refusalOf(anonymous) !== undefined) {
    judge("status", fault(anonymous.status === 401, `status ${anonymous.status}`))
    judge("errorBody", errorBodyFault(anonymous))
  }
  const other = call.credential === "apiKey" ? session.accessToken : session.options.apiKey
  if (other === undefined) skip("otherCredential", "it needs --access-token")
  else yield* refuses("otherCredential", request, undefined, { credential: other })

  const answer = yield* succeeds("answers", request, () => undefined, { triesModel: true })
  if (answer === undefined) {
    if (guess === undefined || judged.get("answers")?.verdict !== "skipped") {
      return finish("its valid request was not answered with success")
    }
    // Nothing is tried with it again.
    if (check.model !== undefined) session.models[check.model] = undefined
    return finish(guess)
  }
  judge("requestId", fault(answer.headers["x-request-id"] !== undefined, "it carries none"))
  if (answer.text === "" && call.mayBeEmpty) {
    judge("form", undefined)
    skip("contentType", "the answer has no body")
  } else if (call.decode !== undefined) {
    const type = answer.headers["content-type"] ?? "not labelled"
    judge("contentType", fault(type.startsWith("application/json"), `it is ${type}`))
    const wrong =
      answer.json === undefined
        ? "the answer is no JSON"
        : yield* Effect.match(call.decode(answer.json), { onFailure: identity, onSuccess: () => undefined })
    judge("form", wrong)
    if (wrong !== undefined && check.form.kind === "interface") {
      return finish("its answer has not the form of the contract")
    }
  }
  yield* check.run({ session, answer, judge, skip, succeeds, refuses, send })
  return finish("what it is judged by did not come about")
})
