/** Checks a gateway against the contract, rule by rule. Imports no transport. */
import "../NodeVersion.ts"
export { type Check, rulesOf } from "./framework/Check.ts"
export { checkGateway, checks } from "./Conformance.ts"
export { callsOf, type ContractCall, contractCalls } from "./framework/Contract.ts"
export type { CheckedCall, RuleResult, RuleKind, Report, Rule, Verdict } from "./framework/Rule.ts"
export type { ConformanceOptions, Permission, ModelPurpose } from "./framework/Session.ts"
