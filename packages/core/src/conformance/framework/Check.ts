/** What a check of one call consists of: rules that every call has, then its own. */
import type { Effect, Redacted } from "effect"
import type { HttpClient } from "effect/http"
import type { Answer, Request, Unanswered } from "./Ask.ts"
import type { ContractCall } from "./Contract.ts"
import { type Kind, ours, promised, type Rule } from "./Rule.ts"
import type { Permission, Purpose, Session } from "./Session.ts"

type Asked<A> = Effect.Effect<A, never, HttpClient.HttpClient>

/** What a call's own part of a check works with. */
export interface Tools<Name extends string> {
  readonly session: Session
  /** The success that the call's first request got. */
  readonly answer: Answer
  /** The rule holds, or is broken by `fault`. */
  readonly judge: (rule: Name, fault: string | undefined) => void
  readonly skip: (rule: Name, why: string) => void
  /**
   * The request has to be answered with success, and by `judge` the rule holds of the answer. Undefined when refused.
   */
  readonly succeeds: (
    rule: Name,
    request: Request,
    judge: (answer: Answer) => string | undefined,
    as?: Asker
  ) => Asked<Answer | undefined>
  /** The request has to be refused; of a refusal with 5xx nobody can say what it refuses. */
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
  /** Only a model for the purpose can do it: a refusal of one that was guessed says nothing about the gateway. */
  readonly triesModel?: boolean
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
  /** What its model is for, if it calls one. */
  readonly model?: Purpose
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
