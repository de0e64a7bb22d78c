/** How one call is checked: rules that every call has, then its own. */
import { Duration, Effect, type Redacted } from "effect"
import type { HttpClient } from "effect/http"
import { type Answer, ask, refusalOf, type Request, type Unanswered } from "./Ask.ts"
import type { ContractCall } from "./Contract.ts"
import { at } from "./Json.ts"
import { type CheckedCall, type Judged, type Kind, ours, promised, type Rule } from "./Rule.ts"
import type { Permission, Session } from "./Session.ts"

type Asked<A> = Effect.Effect<A, never, HttpClient.HttpClient>

/** What a call's own part of a check works with. */
export interface Tools<Name extends string> {
  readonly session: Session
  /** The success that the call's first request got. */
  readonly answer: Answer
  /** The rule holds, or is broken by `fault`. */
  readonly judge: (rule: Name, fault: string | undefined) => void
  readonly skip: (rule: Name, why: string) => void
  /** The request has to be answered with success, and by `judge` the rule holds of the answer. Undefined when refused. */
  readonly succeeds: (
    rule: Name,
    request: Request,
    judge: (answer: Answer) => string | undefined,
    as?: Asker
  ) => Asked<Answer | undefined>
  /** The request has to be refused. */
  readonly refuses: (
    rule: Name,
    request: Request,
    judge?: (answer: Answer) => string | undefined,
    as?: Asker
  ) => Asked<void>
  /** Asks and judges nothing. */
  readonly send: (request: Request, as?: Asker) => Effect.Effect<Answer, Unanswered, HttpClient.HttpClient>
}

/** Another call, or another credential, than the one that is checked. */
export interface Asker {
  readonly call?: { readonly method: ContractCall["method"]; readonly path: string }
  readonly credential?: Redacted.Redacted
}

interface Definition<Name extends string> {
  /** `GET /v1/videos/{}`, as in the contract. */
  readonly call: string
  readonly needs?: Permission
  /** Where in the interface the call stands. */
  readonly section: string
  /** Whether the interface has this call. */
  readonly kind?: Kind
  /** What the contract's schema stands for. */
  readonly form: Rule
  /** Where it stands that the call wants a credential. */
  readonly authentication?: string
  /** The first request, or why none can be made. */
  readonly request: (session: Session) => Request | string
  readonly rules: Readonly<Record<Name, Rule>>
  readonly run: (tools: Tools<Name>) => Asked<void>
}

export interface Check extends Omit<Definition<string>, "run"> {
  readonly run: (tools: Tools<string>) => Asked<void>
}

/** A check, its rules known by name. */
export const check = <Name extends string>(definition: Definition<Name>): Check => definition as Check

const standardRules = ({ authentication, form, kind = "interface", section }: Check, call: ContractCall) => {
  const rule = kind === "interface" ? promised : ours
  return {
    answers: rule(section, "a valid request is answered with success"),
    ...(call.decode && { form }),
    anonymous: rule(authentication ?? "Authentication 1", "without a credential it is refused"),
    otherCredential: rule(
      "Authentication 4",
      call.credential === "apiKey"
        ? "the system access token does not open it"
        : "the API key does not open it"
    ),
    status: ours("Errors 3", "without a credential it is refused with 401"),
    errorBody: ours("Errors 2", "a refusal carries `error` with `message`, `type`, `param` and `code`"),
    requestId: ours("Errors 2", "an answer carries `x-request-id`"),
    ...(call.decode && { contentType: ours("What the service does", "JSON is labelled application/json") })
  }
}

/** The rules of a call by name: those that every call has, then its own. */
export const rulesOf = (check: Check, call: ContractCall): Readonly<Record<string, Rule>> => ({
  ...standardRules(check, call),
  ...check.rules
})

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

/** Makes the requests of a check and judges every rule of its call. */
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

  const refuses: Tools<string>["refuses"] = (rule, request, judgeRefusal = () => undefined, as = {}) =>
    send(request, as).pipe(
      Effect.map((answer) => {
        if (answer.status === 429) return skip(rule, RATE_LIMITED)
        const refused = refusalOf(answer) !== undefined
        judge(rule, refused ? judgeRefusal(answer) : `it was answered with status ${answer.status}`)
      }),
      Effect.catch(({ message }) => Effect.sync(() => judge(rule, message)))
    )
  const succeeds: Tools<string>["succeeds"] = (rule, request, judgeAnswer, as = {}) =>
    send(request, as).pipe(
      Effect.map((answer) => {
        if (answer.status === 429) return skip(rule, RATE_LIMITED)
        const refusal = refusalOf(answer)
        judge(rule, refusal ?? judgeAnswer(answer))
        return refusal === undefined ? answer : undefined
      }),
      Effect.catch(({ message }) => Effect.sync(() => judge(rule, message))),
      Effect.map((answer) => answer ?? undefined)
    )

  const anonymous = yield* Effect.result(ask(session.baseUrl, call, request, undefined, timeout))
  if (anonymous._tag === "Failure") judge("anonymous", anonymous.failure.message)
  else {
    const answer = anonymous.success
    const refused = refusalOf(answer) !== undefined
    judge("anonymous", refused ? undefined : `it was answered with status ${answer.status}`)
    if (refused) {
      judge("status", answer.status === 401 ? undefined : `status ${answer.status}`)
      judge("errorBody", errorBodyFault(answer))
    }
  }
  const other = call.credential === "apiKey" ? session.accessToken : session.options.apiKey
  if (other === undefined) skip("otherCredential", "it needs --access-token")
  else yield* refuses("otherCredential", request, undefined, { credential: other })

  const answer = yield* succeeds("answers", request, () => undefined)
  const failed = "its valid request was not answered with success"
  if (answer === undefined) return finish(failed)
  judge("requestId", answer.headers["x-request-id"] === undefined ? "it carries none" : undefined)
  if (answer.text === "" && call.mayBeEmpty) {
    judge("form", undefined)
    skip("contentType", "the answer has no body")
  } else if (call.decode !== undefined) {
    const type = answer.headers["content-type"]
    judge(
      "contentType",
      type?.startsWith("application/json") === true ? undefined : `it is ${type ?? "not labelled"}`
    )
    const fault =
      answer.json === undefined
        ? "the answer is no JSON"
        : yield* Effect.match(call.decode(answer.json), {
            onFailure: (fault) => fault,
            onSuccess: () => undefined
          })
    judge("form", fault)
    if (fault !== undefined && check.form.kind === "interface")
      return finish("its answer has not the form of the contract")
  }
  yield* check.run({ session, answer, judge, skip, succeeds, refuses, send })
  return finish("what it is judged by did not come about")
})
