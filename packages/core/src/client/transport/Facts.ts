/** What answers say of themselves, for spans and metrics: tokens, model, identifier. */
import { Predicate } from "effect"
import type { ChatEnd } from "../../gateway/Gateway.ts"
import { tokensOf } from "../retrieval/Distrust.ts"

/** As far as the gateway says it. */
export interface Facts {
  readonly id?: string | undefined
  readonly model?: string | undefined
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly finishReasons?: ReadonlyArray<string> | undefined
}

type Fields = Readonly<Record<string, unknown>>
const fieldsOf = (value: unknown): Fields => (Predicate.isObject(value) ? value : {})
const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined
const countOf = (...values: ReadonlyArray<unknown>): number | undefined =>
  tokensOf(values.find((value) => typeof value === "number")) || undefined

/** Reads the names that all the gateway's answers share; no field is believed to be there. */
export const factsOf = (answer: unknown): Facts => {
  const fields = fieldsOf(answer)
  const usage = fieldsOf(fields["usage"])
  const output = countOf(usage["completion_tokens"], usage["output_tokens"])
  const { choices } = fields
  const reasons = Array.isArray(choices)
    ? choices.map((choice) => textOf(fieldsOf(choice)["finish_reason"]))
    : []
  const finishReasons = reasons.filter((reason) => reason !== undefined)
  return {
    id: textOf(fields["id"]) ?? textOf(fieldsOf(fields["extra"])["id"]),
    model: textOf(fields["model"]) ?? textOf(fieldsOf(fields["extra"])["model"]),
    inputTokens: countOf(
      usage["prompt_tokens"],
      usage["input_tokens"],
      output === undefined && usage["total_tokens"]
    ),
    outputTokens: output,
    ...(finishReasons.length > 0 && { finishReasons })
  }
}

/** The same of a stream's end, where 0 tokens means that the gateway does not say. */
export const factsOfEnd = ({ completionTokens, finishReason, promptTokens }: ChatEnd): Facts => ({
  inputTokens: promptTokens || undefined,
  outputTokens: completionTokens || undefined,
  ...(finishReason !== undefined && { finishReasons: [finishReason] })
})
