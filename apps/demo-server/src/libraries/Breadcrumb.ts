import type { StoredPassage } from "@sluice/rag"

/** The place in its document: `Winter!A4:D4`, `page 3`. */
export const placeOf = ({ locator, page }: Pick<StoredPassage, "locator" | "page">): string | undefined =>
  locator ?? (page === undefined ? undefined : `page ${page}`)

/** The location of a passage: `handbook.pdf › page 3 › Locks`, `fees.xlsx › Winter!A4:D4 › Winter`. */
export const breadcrumb = (
  start: string,
  passage: Pick<StoredPassage, "headings" | "locator" | "page">
): string => {
  const place = placeOf(passage)
  return [start, ...(place === undefined ? [] : [place]), ...passage.headings].join(" › ")
}
