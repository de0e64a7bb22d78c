/** Prices of models and the cost of calls, in quota units. Pure. */
export * from "./Estimate.ts"
export * from "./Price.ts"
export * from "./UsageLimit.ts"
