/** Units of the account as people read them. */

/** What one USD is worth, as the contract has it. */
export const UNITS_PER_USD = 500_000

/** `$1.50`, exact: a unit is six decimals of a dollar. */
export const usd = (units: number): string =>
  (units / UNITS_PER_USD).toLocaleString("en-US", {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: 2,
    maximumFractionDigits: 6
  })

/** `750,000 units`. */
export const units = (count: number): string => `${count.toLocaleString()} unit${count === 1 ? "" : "s"}`

/** The units of a text such as `2.50`; undefined where it is no amount, or not a whole number of units. */
export const unitsOf = (text: string): number | undefined => {
  const amount = text.trim().replace(/^\$/, "")
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(amount)) return undefined
  const exact = Number(amount) * UNITS_PER_USD
  const whole = Math.round(exact)
  return Math.abs(exact - whole) < 1e-3 ? whole : undefined
}
