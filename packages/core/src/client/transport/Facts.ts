/** What answers say of themselves, for spans and metrics: tokens, model, identifier. */
import { Predicate } from "effect"
import type { ChatEnd, ResponseOrigin } from "../../gateway/Gateway.ts"

/** As far as the gateway says it. */
export interface Facts {
  readonly id?: string | undefined
  readonly model?: string | undefined
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly finishReasons?: ReadonlyArray<string> | undefined
}

/** Tokens as the gateway counted them; 0 where it does not say, or says what no count can be. */
export const tokensOf = (count: number | undefined): number =>
  count !== undefined && Number.isSafeInteger(count) && count > 0 ? count : 0

const isSaid = (value: unknown): value is string => typeof value === "string" && value !== ""

/** The id and the model of a response, where the gateway names them. */
export const originOf = ({
  id,
  model
}: {
  readonly id?: unknown
  readonly model?: unknown
}): ResponseOrigin => ({
  ...(isSaid(id) && { id }),
  ...(isSaid(model) && { model })
})

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
