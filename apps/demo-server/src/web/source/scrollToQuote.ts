/** What comes near the window takes its real size in the next frame, and moves the quote: one more was enough so far. */
const FRAMES = 4

/**
 * Brings the first marked part into the middle, or just into view where something stands above that should stay; to the
 * top of the document when nothing is marked.
 */
export const scrollToQuote = (body: Element | null, block: "center" | "nearest" = "center"): void => {
  const quote = body?.querySelector("mark, .cited")
  if (!quote) return body?.closest(".source")?.scrollTo({ top: 0 })
  const bring = (again: number) => {
    quote.scrollIntoView({ block, inline: "center" })
    if (again > 0) requestAnimationFrame(() => bring(again - 1))
  }
  bring(FRAMES)
}
