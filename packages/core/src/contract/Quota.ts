/** Money in quota units: whole numbers, 500,000 to one USD. */
import { BigDecimal, Option, Schema } from "effect"

/** The quota units of one USD. The marks below leave it alone in a bundle that uses nothing else of this file. */
export const UNITS_PER_USD = 500_000

/**
 * An amount in quota units: a whole number, negative for an overdrawn balance.
 *
 * **Details.** A branded safe integer, to ±9,007,199,254,740,991 units (18 billion USD); larger amounts are refused. A
 * unit is 0.000002 USD, so every amount is exact in USD with six decimals.
 */
export const Quota = /* @__PURE__ */ Schema.Int.pipe(/* @__PURE__ */ Schema.brand("Quota"))
export type Quota = typeof Quota.Type

/** Makes a `Quota` from a number of units. Throws if it is not a safe integer. */
export const quota: (units: number) => Quota = /* @__PURE__ */ Schema.decodeSync(Quota)

const UNITS = /* @__PURE__ */ BigDecimal.fromBigInt(/* @__PURE__ */ BigInt(UNITS_PER_USD))

/** The exact amount in USD. `BigDecimal.toNumberUnsafe` gives the nearest number. */
export const usdOf = (amount: Quota): BigDecimal.BigDecimal =>
  BigDecimal.normalize(BigDecimal.make(BigInt(amount) * 2n, 6))

/**
 * The exact quota of an amount in USD.
 *
 * **Details.** A number counts as its shortest decimal form: 0.1 is a tenth. None if the amount is not a number, not a
 * multiple of 0.000002 USD (one unit), or too large to be exact.
 *
 * ```ts
 * quotaOfUsd("12.50") // Option.some(6_250_000)
 * quotaOfUsd("0.000001") // Option.none(): half a unit
 * ```
 */
export const quotaOfUsd = (usd: BigDecimal.BigDecimal | string | number): Option.Option<Quota> =>
  (BigDecimal.isBigDecimal(usd) ? Option.some(usd) : decimal(String(usd))).pipe(
    Option.map((amount) => BigDecimal.multiply(amount, UNITS)),
    Option.filter(BigDecimal.isInteger),
    Option.flatMap((units) => Schema.decodeOption(Quota)(BigDecimal.toNumberUnsafe(units)))
  )

/** `BigDecimal` reads an empty text as zero. */
const decimal = (text: string) => (text.trim() === "" ? Option.none() : BigDecimal.fromString(text))

/** Made at the first use: it takes milliseconds. */
let dollars: Intl.NumberFormat | undefined

/** Formats an amount in USD with two to six decimals: `$1.50`, `-$0.000002`. */
export const formatQuota = (amount: Quota): string => {
  dollars ??= new Intl.NumberFormat("en-US", { style: "currency", currency: "USD", maximumFractionDigits: 6 })
  return dollars.format(`${BigInt(amount) * 2n}E-6` as `${number}`)
}
