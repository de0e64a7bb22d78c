/** A rule that a gateway keeps or breaks, and what was found. */

/** `interface`: the interface says so, and breaking it fails the gateway. `our choice`: it is left open there. */
export type Kind = "interface" | "our choice"

export interface Rule {
  readonly kind: Kind
  /** Where in the interface it stands; for our choice, the section that leaves it open. */
  readonly section: string
  /** The rule as a sentence about the gateway. */
  readonly says: string
}

/** A rule of the interface. */
export const promised = (section: string, says: string): Rule => ({ kind: "interface", section, says })

/** A rule that the interface leaves open and this project has settled. */
export const ours = (section: string, says: string): Rule => ({ kind: "our choice", section, says })

export type Verdict = "conforms" | "fails" | "skipped"

/** A rule and what was found about it. */
export interface Judged extends Rule {
  /** The rule's name, unique within its call. */
  readonly rule: string
  readonly verdict: Verdict
  /** How it fails, or why it was skipped. */
  readonly detail?: string
}

/** The rules of one call, judged. */
export interface CheckedCall {
  /** `POST /v1/rerank`. */
  readonly call: string
  readonly rules: ReadonlyArray<Judged>
  /** Why nothing of it was tried, when nothing was. */
  readonly skipped?: string
}

/** What was found about a gateway. */
export interface Report {
  readonly gateway: string
  /** Some rule of the interface was tried, and none fails. Those that were skipped are neither for it nor against it. */
  readonly conforms: boolean
  /** Which models were called, by what for. */
  readonly models: Readonly<Record<string, string>>
  readonly totals: Readonly<Record<Kind, Readonly<Record<Verdict, number>>>>
  readonly calls: ReadonlyArray<CheckedCall>
}

const count = (calls: ReadonlyArray<CheckedCall>, kind: Kind) => {
  const totals: Record<Verdict, number> = { conforms: 0, fails: 0, skipped: 0 }
  for (const { rules } of calls) for (const rule of rules) if (rule.kind === kind) totals[rule.verdict]++
  return totals
}

export const report = (
  gateway: string,
  models: Report["models"],
  calls: ReadonlyArray<CheckedCall>
): Report => {
  const totals = { interface: count(calls, "interface"), "our choice": count(calls, "our choice") }
  const { conforms, fails } = totals.interface
  return { gateway, conforms: fails === 0 && conforms > 0, models, totals, calls }
}
