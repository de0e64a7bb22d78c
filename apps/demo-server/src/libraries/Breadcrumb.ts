import type { StoredPassage } from "@sluice/rag"

/** The location of a passage: `handbook.pdf › page 3 › Locks`, `fees.xlsx › Winter!A4:D4 › Winter`. */
export const breadcrumb = (
  start: string,
  { headings, locator, page }: Pick<StoredPassage, "headings" | "locator" | "page">
): string => {
  const place = locator ?? (page === undefined ? undefined : `page ${page}`)
  return [start, ...(place === undefined ? [] : [place]), ...headings].join(" › ")
}
