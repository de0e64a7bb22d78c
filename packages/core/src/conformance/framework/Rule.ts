/** A rule that a gateway keeps or breaks, its result, and the helpers that judge JSON. */
import { Predicate } from "effect"

/** `interface`: the interface requires it; breaking it fails the gateway. `our choice`: the interface leaves it open. */
export type RuleKind = "interface" | "our choice"

export interface Rule {
  readonly kind: RuleKind
  /** The section of the interface that states the rule, or leaves it open. */
  readonly section: string
  /** The rule as a sentence about the gateway. */
  readonly says: string
}

/** A rule of the interface. */
export const interfaceRule = (section: string, says: string): Rule => ({ kind: "interface", section, says })

/** A rule that the interface leaves open and this project defines. */
export const ownRule = (section: string, says: string): Rule => ({ kind: "our choice", section, says })

export type Verdict = "conforms" | "fails" | "skipped"

/** A rule with its verdict. */
export interface RuleResult extends Rule {
  /** The rule's name, unique within its call. */
  readonly rule: string
  readonly verdict: Verdict
  /** How it fails, or why it was skipped. */
  readonly detail?: string
}

/** The results of one call. */
export interface CheckedCall {
  /** `POST /v1/rerank`. */
  readonly call: string
  readonly rules: ReadonlyArray<RuleResult>
  /** Why the whole call was skipped. */
  readonly skipped?: string
}

/** The results of one gateway. */
export interface Report {
  readonly gateway: string
  /** True if at least one interface rule was tried and none fails. Skipped rules do not count. */
  readonly conforms: boolean
  /** The models that were called, by purpose. */
  readonly models: Readonly<Record<string, string>>
  readonly totals: Readonly<Record<RuleKind, Readonly<Record<Verdict, number>>>>
  readonly calls: ReadonlyArray<CheckedCall>
}

const count = (calls: ReadonlyArray<CheckedCall>, kind: RuleKind) => {
  const totals: Record<Verdict, number> = { conforms: 0, fails: 0, skipped: 0 }
  for (const { rules } of calls) for (const rule of rules) if (rule.kind === kind) totals[rule.verdict]++
  return totals
}

export const makeReport = (
  gateway: string,
  models: Report["models"],
  calls: ReadonlyArray<CheckedCall>
): Report => {
  const totals = { interface: count(calls, "interface"), "our choice": count(calls, "our choice") }
  const { conforms, fails } = totals.interface
  return { gateway, conforms: fails === 0 && conforms > 0, models, totals, calls }
}

/** The value at a path, or undefined: `at(response, "choices", 0, "message")`. */
export const at = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>((value, step) => {
    if (typeof step === "number") return Array.isArray(value) ? value[step] : undefined
    return Predicate.isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
  }, value)

/** The list at a path, or an empty list. */
export const listAt = (value: unknown, ...path: ReadonlyArray<string | number>): ReadonlyArray<unknown> => {
  const list = at(value, ...path)
  return Array.isArray(list) ? list : []
}

/** The fault of a response whose list has another length. */
export const hasLength =
  (list: string, expected: number, what: string) =>
  ({ json }: { readonly json: unknown }): string | undefined => {
    const { length } = listAt(json, list)
    return failUnless(length === expected, `${length} ${what}`)
  }

/** The fault, unless the condition holds. */
export const failUnless = (holds: boolean, fault: string): string | undefined => (holds ? undefined : fault)
