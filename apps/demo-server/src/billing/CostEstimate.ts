/** Estimates the cost of calls, and computes their settlements. */
import { costOf, NO_USAGE, type PaidOperation, type Price, type Usage } from "@sluice/core/prices"
import type { Charge, Settlement } from "./Reservation.ts"
import type { Meter } from "./Meter.ts"
import type { Prices } from "./Prices.ts"
import { responseBody, fieldOf, imagesIn, isText } from "../routing/ResponseBody.ts"
import { billedUsage, outputTokensOf } from "./ReportedUsage.ts"

export interface CostEstimate {
  readonly price: Price
  /** The usage at most. */
  readonly most: Usage
  /** Characters of the body in addition to its texts. `most` includes them. */
  readonly nonText: number
  /** Quota units at most. They are reserved. */
  readonly units: number
}

export const estimateCost = <Request extends { readonly model: string }>(
  prices: Prices["Service"],
  meter: Meter<Request>,
  request: Request,
  body: string
): CostEstimate => {
  const price = prices.of(meter.operation, request.model)
  const nonText = meter.nonText?.(request, body) ?? 0
  const most = meter.most(request, nonText)
  return { price, most, nonText, units: costOf(price, most) }
}

/** The tokens that count towards the limit per minute. */
export const estimatedTokens = ({ most }: CostEstimate): number => most.inputTokens + most.outputTokens

export const settlementFor = ({ price }: Pick<CostEstimate, "price">, usage: Usage): Settlement => ({
  cost: costOf(price, usage),
  inputTokens: usage.inputTokens,
  outputTokens: usage.outputTokens
})

/** The usage to bill for a response. */
export const usageOf = (value: unknown, { most }: CostEstimate, countUsage: () => Usage): Usage =>
  billedUsage(fieldOf(value, "usage"), most, countUsage, () => outputTokensOf(value))

const textOf = (value: unknown, name: string): string | undefined => {
  const text = fieldOf(value, name)
  return isText(text) ? text : undefined
}

/** The size and the quality in a response, if it has any. */
export const variantOf = (value: unknown): Pick<Usage, "size" | "quality"> => {
  const [size, quality] = [textOf(value, "size"), textOf(value, "quality")]
  return { ...(size !== undefined && { size }), ...(quality !== undefined && { quality }) }
}

/** The settlement of a task by its response. It is at most the planned cost. */
export const taskSettlement = (
  prices: Prices["Service"],
  { model, operation, planned }: Charge & { readonly planned: number },
  answer: unknown
): Settlement => {
  const value = responseBody(answer, "all")
  const images = imagesIn(value)
  const seconds = Number(fieldOf(value, "seconds"))
  const variant = variantOf(value)
  const usage =
    operation === "videos"
      ? seconds > 0 && { ...NO_USAGE, seconds, ...variant }
      : images !== undefined && { ...NO_USAGE, images, ...variant }
  const price = prices.of(operation as PaidOperation, model)
  // With prices by size, a response without a size does not say the cost.
  const isKnown = price.variants === undefined || Object.keys(variant).length > 0
  const cost = usage && isKnown ? costOf(price, usage) : planned
  return { cost: Math.min(cost, planned), inputTokens: 0, outputTokens: 0 }
}
