/** Prices by model, in quota units, and the cost of a usage. */
import { Schema } from "effect"

/** At most 1,000 USD for 1,000 tokens, an image or a second. A higher price is a typing error. */
const Units = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 500_000_000 }))

/** Quota units, with up to six decimals. Missing prices are 0. */
export const Price = Schema.Struct({
  inputPer1000Tokens: Schema.optionalKey(Units),
  /** Input tokens that the vendor has read from its cache. Default: `inputPer1000Tokens`. */
  cachedInputPer1000Tokens: Schema.optionalKey(Units),
  outputPer1000Tokens: Schema.optionalKey(Units),
  /** A rerank query with up to 100 documents. */
  perSearch: Schema.optionalKey(Units),
  perImage: Schema.optionalKey(Units),
  perSecond: Schema.optionalKey(Units),
  /**
   * In place of `perImage` or `perSecond`, by size, quality or both: `1024x1536`, `720p`, `high`, `1024x1536 high`. Two
   * names take precedence over a quality, and a quality over a size. `720p` also means 1280x720.
   */
  variants: Schema.optionalKey(Schema.Record(Schema.String, Units))
})
export type Price = typeof Price.Type

/** The prices of models: the content of a price file. */
export const PriceTable = Schema.Struct({
  /** By operation, for models without a price of their own. */
  defaults: Schema.optionalKey(
    Schema.Struct({
      embeddings: Schema.optionalKey(Price),
      rerank: Schema.optionalKey(Price),
      chat: Schema.optionalKey(Price),
      images: Schema.optionalKey(Price),
      videos: Schema.optionalKey(Price)
    })
  ),
  models: Schema.optionalKey(Schema.Record(Schema.String, Price))
})
export type PriceTable = typeof PriceTable.Type

/** The kind of a call that costs something. */
export type PaidOperation = keyof NonNullable<PriceTable["defaults"]>

/** The price of a model: its own, or that of the operation. */
export const priceOf = (
  { defaults = {}, models = {} }: PriceTable,
  operation: PaidOperation,
  model: string
): Price => (Object.hasOwn(models, model) ? models[model] : defaults[operation]) ?? {}

/** The usage of a call, actual or at most. */
export interface Usage {
  readonly inputTokens: number
  /** Those of the input tokens that the vendor has read from its cache. */
  readonly cachedTokens?: number
  readonly outputTokens: number
  /** Rerank queries, of up to 100 documents each. */
  readonly searches?: number
  readonly images: number
  /** Seconds of video. */
  readonly seconds: number
  /** Of images or of a video, if known. */
  readonly size?: string | undefined
  readonly quality?: string | undefined
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, images: 0, seconds: 0 }

/** Whole millionths, because rounding errors of binary fractions could add a unit. */
const millionths = (amount: number): bigint => BigInt(Math.round(amount * 1e6))

const PER_1000_TOKENS = 1000n
/** A price in millionths times seconds in millionths. */
const PER_SECOND = 1_000_000n

/** A size as in `variants`: `1280x720`, and `720p` for it. */
const sizesOf = (size: string | undefined): ReadonlyArray<string> => {
  const text = size?.toLowerCase().replace("*", "x")
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(text ?? "") ?? []
  return text === undefined
    ? []
    : [text, ...(width === undefined ? [] : [`${Math.min(+width, Number(height))}p`])]
}

/** The price of the usage's size and quality; undefined if the model has none for them. */
const variantPrice = ({ variants = {} }: Price, { quality, size }: Usage): number | undefined => {
  const prices = new Map(Object.entries(variants).map(([name, units]) => [name.toLowerCase(), units]))
  const qualities = quality === undefined ? [] : [quality.toLowerCase()]
  const sizes = sizesOf(size)
  const names = [...sizes.flatMap((one) => qualities.map((two) => `${one} ${two}`)), ...qualities, ...sizes]
  return names.map((name) => prices.get(name)).find((units) => units !== undefined)
}

/** The cost in quota units, rounded up once at the end. */
export const costOf = (price: Price, usage: Usage): number => {
  const { cachedTokens = 0, images, inputTokens, outputTokens, searches = 0, seconds } = usage
  const { cachedInputPer1000Tokens, inputPer1000Tokens = 0 } = price
  const variant = price.variants === undefined ? undefined : variantPrice(price, usage)
  const ofTokens =
    millionths(inputPer1000Tokens) * BigInt(inputTokens - cachedTokens) +
    millionths(cachedInputPer1000Tokens ?? inputPer1000Tokens) * BigInt(cachedTokens) +
    millionths(price.outputPer1000Tokens ?? 0) * BigInt(outputTokens)
  const ofItems =
    millionths(variant ?? price.perImage ?? 0) * BigInt(images) +
    millionths(price.perSearch ?? 0) * BigInt(searches)
  const ofSeconds = millionths(variant ?? price.perSecond ?? 0) * millionths(seconds)
  const scale = 1_000_000n * PER_1000_TOKENS * PER_SECOND
  const sum = ofTokens * PER_SECOND + ofItems * PER_1000_TOKENS * PER_SECOND + ofSeconds * PER_1000_TOKENS
  return Number((sum + scale - 1n) / scale)
}
