/** What parts the cells of CSV and TSV files, which their names do not tell. */

const DELIMITERS = [",", ";", "\t", "|"] as const

/** What stands most often in the header, quoted cells aside; undefined where none of them does. */
export const delimiterOf = (header: string): string | undefined => {
  const plain = header.replace(/"(?:[^"]|"")*"/g, "")
  const counts = DELIMITERS.map((delimiter) => plain.split(delimiter).length)
  const most = Math.max(...counts)
  return most === 1 ? undefined : DELIMITERS[counts.indexOf(most)]
}
