/** Inverse document frequency in general language. */
import { idfLevels } from "./IdfTable.ts"

const table = new Map<string, number>()
idfLevels.forEach((terms, i) => {
  for (const term of terms.split(" ")) table.set(term, (i + 1) / (idfLevels.length + 1))
})

/** Numbers are not in the table: the more digits, the rarer. */
const byDigits = [0, 0.35, 0.5, 0.7, 0.85]

/**
 * Inverse document frequency of a term in general English or Chinese, above 0, at most 1.
 *
 * A term is a stem, a Han character or a pair of Han characters. An unknown term has 1.
 */
export const idf = (term: string): number =>
  table.get(term) ?? (/^\d{1,4}$/.test(term) ? (byDigits[term.length] ?? 1) : 1)
