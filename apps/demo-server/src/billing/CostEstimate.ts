/** What a call may cost, and what it came to: the same for every way that a call takes. */
import type { RateLimits } from "../accounts/KeyLimits.ts"
import type { Charge, Purchase, Settlement } from "./Reservation.ts"
import type { Meter } from "./Meter.ts"
import type { Operations } from "../routing/Provider.ts"
import { costOf, NOTHING, type Price, type Prices, type Usage } from "./Prices.ts"
import { bodyOf, fieldOf, imagesIn } from "../routing/ResponseBody.ts"
import { settledUsage, writtenBy } from "./ReportedUsage.ts"

export interface Quote {
  readonly price: Price
  readonly most: Usage
  /** Characters beside the texts, which are in `most`. */
  readonly beyond: number
  /** What is reserved. */
  readonly units: number
}

export const quoteOf = <Request extends { readonly model: string }>(
  prices: Prices["Service"],
  meter: Meter<Request>,
  request: Request,
  body: string
): Quote => {
  const price = prices.of(meter.operation, request.model)
  const beyond = meter.beyond?.(request, body) ?? 0
  const texts = meter.most(request)
  const most = beyond === 0 ? texts : { ...texts, inputTokens: texts.inputTokens + beyond }
  return { price, most, beyond, units: costOf(price, most) }
}

/** What is counted towards a minute's limit. */
export const tokensOf = ({ most }: Quote): number => most.inputTokens + most.outputTokens

export const purchaseOf = (
  quote: Quote,
  { creates, operation }: Pick<Meter<never>, "creates" | "operation">,
  model: string,
  buyer: {
    readonly user: string
    readonly key: number | undefined
    readonly limits: RateLimits
    readonly idempotency?: Purchase["idempotency"]
  }
): Purchase => ({
  ...buyer,
  operation,
  model,
  units: quote.units,
  tokens: tokensOf(quote),
  creates
})

export const settlementOf = ({ price }: Pick<Quote, "price">, usage: Usage): Settlement => ({
  cost: costOf(price, usage),
  inputTokens: usage.inputTokens,
  outputTokens: usage.outputTokens
})

/** What a whole answer says that it used, as far as that is believed. */
export const usedBy = (value: unknown, { most }: Quote, counted: () => Usage): Usage =>
  settledUsage(fieldOf(value, "usage"), most, counted, () => writtenBy(value))

/** What a task has made, by its answer, where that tells: never more than was planned when it began. */
export const settlementOfTask = (
  prices: Prices["Service"],
  { model, operation, planned }: Charge & { readonly planned: number },
  answer: unknown
): Settlement => {
  const value = bodyOf(answer, "all")
  const images = imagesIn(value)
  const seconds = Number(fieldOf(value, "seconds"))
  const usage =
    operation === "videos"
      ? seconds > 0 && { ...NOTHING, seconds }
      : images !== undefined && { ...NOTHING, images }
  const cost = usage ? costOf(prices.of(operation as keyof Operations, model), usage) : planned
  return { cost: Math.min(cost, planned), inputTokens: 0, outputTokens: 0 }
}
