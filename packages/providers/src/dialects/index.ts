/** All dialects: one line each. */
import { Context } from "effect"
import type { Dialect } from "../protocol/Dialect.ts"
import { gateway } from "../protocol/GatewayDialect.ts"
import { anthropic } from "./anthropic.ts"
import { cohere } from "./cohere.ts"
import { dashscope } from "./dashscope.ts"
import { fal } from "./fal.ts"
import { google } from "./google.ts"
import { jina } from "./jina.ts"
import { kling } from "./kling.ts"
import { luma } from "./luma.ts"
import { COMPATIBLE, openai } from "./openai.ts"
import { replicate } from "./replicate.ts"
import { runway } from "./runway.ts"
import { siliconflow } from "./siliconflow.ts"
import { tei } from "./tei.ts"
import { voyage } from "./voyage.ts"

/** Each with the operations that it has, for the types of `Providers`. */
export const VENDORS = [
  gateway,
  openai,
  anthropic,
  cohere,
  voyage,
  jina,
  google,
  dashscope,
  siliconflow,
  ...COMPATIBLE,
  tei,
  fal,
  replicate,
  runway,
  luma,
  kling
] as const

export const DIALECTS: ReadonlyArray<Dialect> = VENDORS

/** The dialects of a program. It adds its own by providing a longer list. */
export const Dialects = Context.Reference<ReadonlyArray<Dialect>>("@sluice/providers/Dialects", {
  defaultValue: () => DIALECTS
})
