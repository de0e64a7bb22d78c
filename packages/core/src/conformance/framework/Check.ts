/** The check of one call: the common rules, then its own. */
import type { Effect, Redacted } from "effect"
import type { HttpClient } from "effect/http"
import type { GatewayResponse, CheckRequest, NoResponse } from "./Request.ts"
import type { CallName, ContractCall } from "./Contract.ts"
import { type RuleKind, ownRule, interfaceRule, type Rule } from "./Rule.ts"
import type { Permission, ModelPurpose, Session } from "./Session.ts"

type CheckStep<A> = Effect.Effect<A, never, HttpClient.HttpClient>

/** What a check uses to send requests and judge rules. */
export interface CheckContext<Name extends string> {
  readonly session: Session
  /** The successful response of the call's first request. */
  readonly response: GatewayResponse
  /** The rule holds, or fails with `fault`. */
  readonly judge: (rule: Name, fault: string | undefined) => void
  /** The rule holds if the condition does, else it fails with `fault`. */
  readonly expect: (rule: Name, holds: boolean, fault: string) => void
  readonly skip: (rule: Name, why: string) => void
  /** Expects a success that `judge` accepts. Returns undefined if the request was refused. */
  readonly expectSuccess: (
    rule: Name,
    request: CheckRequest,
    judge: (response: GatewayResponse) => string | undefined,
    as?: SendOptions
  ) => CheckStep<GatewayResponse | undefined>
  /** Expects a refusal. A 5xx skips the rule. */
  readonly expectRefusal: (
    rule: Name,
    request: CheckRequest,
    judge?: (response: GatewayResponse) => string | undefined,
    as?: SendOptions
  ) => CheckStep<void>
  /** Sends a request without judging a rule. */
  readonly send: (
    request: CheckRequest,
    as?: SendOptions
  ) => Effect.Effect<GatewayResponse, NoResponse, HttpClient.HttpClient>
}

/** Sends another call, or another credential, than the checked ones. */
interface SendOptions {
  /** A refusal of a guessed model does not fail the rule: the model may serve another purpose. */
  readonly triesModel?: boolean
  readonly call?: CallName
  readonly credential?: Redacted.Redacted
}

type Body = Readonly<Record<string, unknown>>

/** A rule that certain requests are refused. */
export interface Refusal extends Rule {
  /** Changes of the valid request's body, each refused on its own; or why there are none. `undefined` removes a field. */
  readonly changes: ReadonlyArray<Body> | ((session: Session) => ReadonlyArray<Body> | string)
  /** Judges the refusal. */
  readonly judge?: (response: GatewayResponse) => string | undefined
}

/** The interface requires that these changes are refused. */
export const refuses = (section: string, says: string, ...changes: ReadonlyArray<Body>): Refusal => ({
  ...interfaceRule(section, says),
  changes
})

/** The interface requires these fields. */
export const requiredFields = <Field extends string>(section: string, ...fields: ReadonlyArray<Field>) =>
  Object.fromEntries(
    fields.map((field) => [
      `no_${field}`,
      refuses(section, `a request without \`${field}\` is refused`, { [field]: undefined })
    ])
  ) as Record<`no_${Field}`, Refusal>

/** The check of one call, and the names of its rules. */
export interface Check<Name extends string = string> {
  readonly call: CallName
  readonly needs?: Permission
  /** The section of the interface that defines the call. */
  readonly section: string
  /** `our choice` if the interface lacks this call. */
  readonly kind?: RuleKind
  /** The purpose of the model it calls. */
  readonly model?: ModelPurpose
  /** The rule that the contract's schema checks. */
  readonly form: Rule
  /** The section that requires a credential. */
  readonly authentication?: string
  /** The first request, or why it cannot be sent. */
  readonly request: (session: Session) => CheckRequest | string
  /** Refusals are checked after `run`, except those that it judged. */
  readonly rules: Readonly<Record<Name, Rule | Refusal>>
  /** Judges the other rules. Returns why it stopped, if it did: the other rules are skipped with this reason. */
  readonly run: (context: CheckContext<NoInfer<Name>>) => CheckStep<string | void>
}

/** Defines a check; rule names are typed. */
export const check = <Name extends string>(definition: Check<Name>): Check => definition as Check

/** The rules of a call by name: the common ones, then its own. */
export const rulesOf = (check: Check, call: ContractCall): Readonly<Record<string, Rule>> => {
  const { authentication, form, kind = "interface", rules, section } = check
  const rule = kind === "interface" ? interfaceRule : ownRule
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
    status: ownRule("Errors 3", "without a credential it is refused with 401"),
    errorBody: ownRule("Errors 2", "a refusal carries `error` with `message`, `type`, `param` and `code`"),
    requestId: ownRule("Errors 2", "a response carries `x-request-id`"),
    ...(call.decode && {
      contentType: ownRule("What the service does", "JSON is labelled application/json")
    }),
    ...rules
  }
}
