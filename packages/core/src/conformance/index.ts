/** The contract as a measure: does a gateway keep it, rule by rule? Brings no transport. */
export { type Check, rulesOf } from "./framework/Check.ts"
export { checkGateway, checks } from "./Conformance.ts"
export { callsOf, type ContractCall, contractCalls } from "./framework/Contract.ts"
export type { CheckedCall, Judged, Kind, Report, Rule, Verdict } from "./framework/Rule.ts"
export type { ConformanceOptions, Permission, Purpose } from "./framework/Session.ts"
