/**
 * Brings the first marked part into the middle, or just into view where something stands above that should stay; to the
 * top of the document when nothing is marked.
 */
export const scrollToQuote = (body: Element | null, block: "center" | "nearest" = "center"): void => {
  const quote = body?.querySelector("mark, .cited")
  if (quote) quote.scrollIntoView({ block, inline: "center" })
  else body?.closest(".source")?.scrollTo({ top: 0 })
}
