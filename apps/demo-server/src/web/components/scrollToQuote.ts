/** Brings the first marked part into the middle; to the top of the document when nothing is marked. */
export const scrollToQuote = (body: Element | null): void => {
  const quote = body?.querySelector("mark, .cited")
  if (quote) quote.scrollIntoView({ block: "center" })
  else body?.closest(".source")?.scrollTo({ top: 0 })
}
