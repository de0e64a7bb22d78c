/** What a citation says of its document and its passage, besides where the quote is. */
import type { Citation } from "../document/Document.ts"
import type { Retrieval } from "../retrieval/Retriever.ts"
import type { AnswerEvent } from "./Answer.ts"

/** Adds URL, metadata and score to the citations of an event. A neighbour that was read along has no score. */
export const withCitationDetails = ({ kept, trace }: Pick<Retrieval, "kept" | "trace">) => {
  const recalled = trace.passages.map(({ passage, recallScore, rerankScore }) => ({
    ...passage,
    score: rerankScore ?? recallScore
  }))
  const scores = new Map([...recalled, ...kept].map(({ id, score }) => [id, score]))
  const documents = new Map([...recalled, ...kept].map(({ document }) => [document.id, document]))
  const detailed = (citation: Citation): Citation => {
    const { metadata, url } = documents.get(citation.documentId) ?? {}
    const score = scores.get(citation.passageId)
    return {
      ...citation,
      ...(score !== undefined && { score }),
      ...(url !== undefined && { url }),
      ...(metadata !== undefined && { metadata })
    }
  }
  return (event: AnswerEvent): AnswerEvent => {
    if (event.type === "sentence") return { ...event, citations: event.citations.map(detailed) }
    if (event.type !== "answer") return event
    return { ...event, answer: { ...event.answer, citations: event.answer.citations.map(detailed) } }
  }
}
