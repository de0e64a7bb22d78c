/** An answer as text for a terminal, with its citations. */
import type { Answer, Citation, ClosestPassage } from "@sluice/rag"
import { breadcrumb } from "../../libraries/Breadcrumb.ts"

/** The text of a passage in one line, with the words of the question between asterisks. */
const marked = ({ matches, passage: { text } }: ClosestPassage): string => {
  let from = 0
  const parts = matches.map(({ end, start }) => {
    const part = `${text.slice(from, start)}*${text.slice(start, end)}*`
    from = end
    return part
  })
  return `${parts.join("")}${text.slice(from)}`.replaceAll(/\s+/g, " ").trim()
}

/** The number, the place and the quote of a citation. */
export const renderCitation = (citation: Citation): string =>
  `[${citation.n}] ${breadcrumb(citation.document, citation)}\n    “${citation.quote.replaceAll(/\s+/g, " ").trim()}”`

export const renderAnswer = (answer: Answer): string =>
  [
    ...(answer.standalone === undefined ? [] : [`Understood as: ${answer.standalone.question}`]),
    answer.answer,
    ...answer.closest.map(
      (closest) => `${breadcrumb(closest.passage.document.path, closest.passage)}\n    ${marked(closest)}`
    ),
    ...answer.citations.map(
      (citation) =>
        `${renderCitation(citation)}${citation.quoted === "matched" ? " (found by Sluice: the model gave no quote)" : ""}`
    )
  ].join("\n\n")
