/** Money at the gateway: quota units, whole numbers of which 500,000 are one USD. */
import { BigDecimal, Option, Schema } from "effect"

/** Quota units that are worth one USD. */
export const UNITS_PER_USD = 500_000

/**
 * An amount in quota units: a whole number, negative where a balance is overdrawn.
 *
 * **Details.** A branded number that is exact to ±9,007,199,254,740,991 units (18 thousand million USD); a balance
 * beyond is refused, never rounded. It travels in JSON as it is. A unit is 0.000002 USD, so that every amount has at
 * most six decimals in USD, and none is lost on the way there and back.
 */
export const Quota = Schema.Int.pipe(Schema.brand("Quota"))
export type Quota = typeof Quota.Type

/** A `Quota` of a number of units. Throws when it is not whole, or too large to be exact. */
export const quota: (units: number) => Quota = Schema.decodeSync(Quota)

const UNITS = BigDecimal.fromBigInt(BigInt(UNITS_PER_USD))

/** The amount in USD, exactly. `BigDecimal.toNumberUnsafe` makes a number of it where the nearest one will do. */
export const usdOf = (amount: Quota): BigDecimal.BigDecimal =>
  BigDecimal.normalize(BigDecimal.make(BigInt(amount) * 2n, 6))

/**
 * The units that are worth an amount in USD, exactly.
 *
 * **Details.** A number is taken by its shortest decimal form: 0.1 is a tenth. None where the amount is no number, is
 * not a whole number of units (a multiple of 0.000002 USD), or too large to be exact.
 *
 * ```ts
 * quotaOfUsd("12.50") // Option.some(6_250_000)
 * quotaOfUsd("0.000001") // Option.none(): half a unit
 * ```
 */
export const quotaOfUsd = (usd: BigDecimal.BigDecimal | string | number): Option.Option<Quota> =>
  (BigDecimal.isBigDecimal(usd) ? Option.some(usd) : decimal(String(usd))).pipe(
    Option.map((amount) => BigDecimal.normalize(BigDecimal.multiply(amount, UNITS))),
    Option.filter(({ scale, value }) => scale <= 0 && value.toString().length - scale <= LONGEST),
    Option.flatMap(({ scale, value }) => Schema.decodeOption(Quota)(Number(value * 10n ** BigInt(-scale))))
  )

/** An empty text is no amount, though `BigDecimal` takes it for zero. */
const decimal = (text: string) => (text.trim() === "" ? Option.none() : BigDecimal.fromString(text))

/** Digits of the largest exact number, and its sign: what is longer is not even computed. */
const LONGEST = 17

/** The amount as text: dollars and cents, and as many decimals beyond as it has: `$1.50`, `-$0.000002`. */
export const formatQuota = (amount: Quota): string => {
  const millionths = BigInt(amount) * 2n
  const absolute = millionths < 0n ? -millionths : millionths
  const dollars = (absolute / 1_000_000n).toString().replace(/\B(?=(\d{3})+$)/g, ",")
  const decimals = (absolute % 1_000_000n)
    .toString()
    .padStart(6, "0")
    .replace(/0{1,4}$/, "")
  return `${millionths < 0n ? "-" : ""}$${dollars}.${decimals}`
}
