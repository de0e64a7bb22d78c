/** Blocks near the window get their real size in the next frame and move the quote. One more frame was enough so far. */
const FRAMES = 4

/**
 * Scrolls to the first marked part, to the middle (`center`) or just into view (`nearest`). Without a mark it scrolls to
 * the top of the document.
 */
export const scrollToQuote = (body: Element | null, block: "center" | "nearest" = "center"): void => {
  const quote = body?.querySelector("mark, .cited")
  if (!quote) return body?.closest(".source")?.scrollTo({ top: 0 })
  const scroll = (left: number) => {
    quote.scrollIntoView({ block, inline: "center" })
    if (left > 0) requestAnimationFrame(() => scroll(left - 1))
  }
  scroll(FRAMES)
}
