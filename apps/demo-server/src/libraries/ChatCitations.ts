/** An answer as the text of a chat message, piece by piece, with an annotation for each `[n]`. */
import { type Answer, type AnswerEvent, type Citation, joinSentences, type StoredPassage } from "@sluice/rag"
import { Schema } from "effect"
import { DEFAULT_COLLECTION } from "../contract/Names.ts"
import { placeOf } from "./Breadcrumb.ts"

/** Characters of a passage that is shown without an answer. */
const SHOWN_PASSAGE = 300

type Place = Pick<Citation, "documentId" | "page" | "start" | "end" | "title">

/** The document on this server: its page with the quote marked, or its file if it has no pages. */
const placeUrl = (origin: string, collection: string, { documentId, end, page, start }: Place): string => {
  const query = new URLSearchParams(collection === DEFAULT_COLLECTION ? {} : { collection })
  if (page !== undefined) {
    query.set("from", String(start))
    query.set("to", String(end))
  }
  const path = page === undefined ? "file" : `pages/${page}/image`
  const text = query.toString()
  return `${origin}/documents/${documentId}/${path}${text === "" ? "" : `?${text}`}`
}

const oneLine = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length > SHOWN_PASSAGE ? `${line.slice(0, SHOWN_PASSAGE)} …` : line
}

const isJson = Schema.is(Schema.Json)

/** Collects the text of one message. `origin`: the server's address, with which the links of the annotations start. */
export const makeChatCitations = (origin: string, collection: string) => {
  const sentences: Array<Answer["sentences"][number]> = []
  const annotations: Array<{ readonly end: number; readonly annotation: Schema.Json }> = []
  let text = ""
  let outcome: Answer["outcome"] | undefined

  /** Annotates the last `[n]` of the text. */
  const annotate = (n: number, place: Place, citation: Citation | StoredPassage) => {
    const start = text.lastIndexOf(`[${n}]`)
    const end = start + `[${n}]`.length
    const url_citation = {
      url: placeUrl(origin, collection, place),
      title: place.title,
      start_index: start,
      end_index: end
    }
    const annotation = { type: "url_citation", url_citation, citation }
    if (start >= 0 && isJson(annotation)) annotations.push({ end, annotation })
  }

  /** The end of the text: what could not be said before the whole answer was known. */
  const lastPiece = (answer: Answer): string => {
    const { closest, found } = answer
    const before = text.length
    if (found) {
      const unsupported = answer.sentences.filter((sentence) => sentence.unsupported !== undefined)
      const numbers = unsupported.flatMap(({ citations }) => citations).map((n) => `[${n}]`)
      if (numbers.length > 0) text += ` (unsupported: ${numbers.join("")})`
      // The notes about what is missing.
      text += answer.answer.slice(joinSentences(answer.sentences).length)
      return text.slice(before)
    }
    text += answer.answer
    for (const [at, { passage }] of closest.entries()) {
      const { document } = passage
      const place = placeOf(passage)
      const title = `${document.title}${place === undefined ? "" : `, ${place}`}`
      text += `\n\n[${at + 1}] ${title}: ${oneLine(passage.text)}`
      annotate(at + 1, { ...passage, documentId: document.id, title: document.title }, passage)
    }
    return text.slice(before)
  }

  return {
    /** The text that an event adds. */
    piece: (event: AnswerEvent): string => {
      if (event.type === "answer") {
        outcome = event.answer.outcome
        return lastPiece(event.answer)
      }
      if (event.type !== "sentence") return ""
      const before = text.length
      sentences.push(event.sentence)
      text = joinSentences(sentences)
      for (const citation of event.citations) annotate(citation.n, citation, citation)
      return text.slice(before)
    },
    /** The message's own fields: `outcome`, if the answer was not cut off, and the annotations of the first `length` characters. */
    fields: (length: number): Readonly<Record<string, Schema.Json>> => ({
      annotations: annotations.filter(({ end }) => end <= length).map(({ annotation }) => annotation),
      ...(outcome !== undefined && { outcome })
    })
  }
}
