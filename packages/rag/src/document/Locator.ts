/** Where a part of a document is in its file, for formats without pages. */
import { Schema } from "effect"

/**
 * A part of a document's text, and where its file has it: `Fees!A12` to `D12`, `slide 7`, `00:01:20`.
 *
 * **Details.** Locators are in order of `start` and do not overlap. `to` is the last cell of a row of a spreadsheet.
 */
export const Locator = Schema.Struct({
  start: Schema.Int,
  end: Schema.Int,
  label: Schema.String,
  to: Schema.optionalKey(Schema.String)
})
export type Locator = typeof Locator.Type

/** The locators of the text from `start` to `end`. */
export const locatorsIn = (
  locators: ReadonlyArray<Locator>,
  start: number,
  end: number
): ReadonlyArray<Locator> => {
  let low = 0
  let high = locators.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (locators[middle]!.end <= start) low = middle + 1
    else high = middle
  }
  let after = low
  while (after < locators.length && locators[after]!.start < end) after++
  return locators.slice(low, after)
}

const sheetOf = ({ label }: Locator): string => label.slice(0, label.lastIndexOf("!"))

/** One label of successive locators: the range of cells, or the first label. */
export const locatorLabel = (locators: ReadonlyArray<Locator>): string | undefined => {
  const first = locators[0]
  const last = locators.findLast((one) => one.to !== undefined && sheetOf(one) === sheetOf(first!))
  return last?.to === undefined || first?.to === undefined ? first?.label : `${first.label}:${last.to}`
}
