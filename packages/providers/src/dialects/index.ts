/** All dialects: one line each. */
import { Context } from "effect"
import type { Dialect } from "../protocol/Dialect.ts"
import { gateway } from "../protocol/GatewayDialect.ts"
import { COMPATIBLE, openai } from "./openai.ts"

export const DIALECTS: ReadonlyArray<Dialect> = [gateway, openai, ...COMPATIBLE]

/** The dialects of a program. It adds its own by providing a longer list. */
export const Dialects = Context.Reference<ReadonlyArray<Dialect>>("@sluice/providers/Dialects", {
  defaultValue: () => DIALECTS
})
