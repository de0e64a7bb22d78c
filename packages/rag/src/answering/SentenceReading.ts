/** The sentences of one answer, as the reader emits them: their quotes are checked, and what is not proved is withdrawn. */
import { notRead, type ReaderEnd, type ReaderPart } from "@sluice/core/models"
import type { Answer, AnsweredPart, AnswerEvent, AnswerSentence } from "./Answer.ts"
import type { Citation } from "../document/Document.ts"
import { citationsOf, type Source } from "./Evidence.ts"
import type { StageTime } from "../retrieval/stages/Trace.ts"

/** `sources` may grow while it is read. */
export const makeSentenceReading = (sources: ReadonlyArray<Source>, parts: ReadonlyArray<string> = []) => {
  /** Sentences of parts that are read one by one. */
  const found = new Map<number, Array<AnswerSentence>>()
  const sentences: Array<AnswerSentence> = []
  const citations: Array<Citation> = []
  let dropped = 0
  /** Text of the next sentence so far. */
  let draft = ""
  let end: ReaderEnd | undefined
  let unsupported = 0

  const withdraw = (): ReadonlyArray<AnswerEvent> => {
    const text = draft
    draft = ""
    return text === "" ? [] : [{ type: "withdrawn", text }]
  }

  const isSame = (a: ReadonlyArray<number>, b: ReadonlyArray<number>) => a.join() === b.join()

  /** `at` is the part of the question that is read alone; -1 is the question itself before its parts. */
  const toEvents = (part: ReaderPart, at?: number): ReadonlyArray<AnswerEvent> => {
    if (part.type === "withdrawn") return withdraw()
    if (part.type === "end") {
      end = part
      return withdraw()
    }
    if (part.type === "text") {
      draft += part.text
      return [part]
    }
    const cited = citationsOf(part, sources, citations)
    if (cited === undefined) {
      dropped++
      return withdraw()
    }
    draft = ""
    citations.push(...cited.filter(({ n }) => n > citations.length))
    const numbers = cited.map(({ n }) => n)
    const known = sentences.find((one) => one.text === part.text && isSame(one.citations, numbers))
    const sentence: AnswerSentence = known ?? { text: part.text, citations: numbers }
    if (at !== undefined) found.set(at, [...(found.get(at) ?? []), sentence])
    if (known !== undefined) return []
    sentences.push(sentence)
    return [{ type: "sentence", sentence, citations: cited }]
  }

  return {
    sentences: sentences as ReadonlyArray<AnswerSentence>,
    citations: citations as ReadonlyArray<Citation>,
    dropped: () => dropped,
    unsupported: () => unsupported,
    /** Marks the sentences with a doubt, one for each sentence, or leaves them out. */
    doubt: (doubts: ReadonlyArray<string | undefined>, drops: boolean) => {
      unsupported = doubts.filter((doubt) => doubt !== undefined).length
      const verified = sentences.flatMap((sentence, i): ReadonlyArray<AnswerSentence> => {
        const doubt = doubts[i]
        if (doubt === undefined) return [sentence]
        return drops ? [] : [{ ...sentence, unsupported: doubt }]
      })
      sentences.splice(0, sentences.length, ...verified)
      const used = new Set(sentences.flatMap((sentence) => sentence.citations))
      citations.splice(0, citations.length, ...citations.filter(({ n }) => used.has(n)))
    },
    toEvents,
    /** Which parts of the question have an answer. */
    parts: (): ReadonlyArray<AnsweredPart> => {
      const texts = new Set(sentences.map(({ text }) => text))
      const isFound = (at: number): boolean =>
        texts.size > 0 &&
        (found.size > 0
          ? (found.get(at) ?? []).some(({ text }) => texts.has(text))
          : end?.unanswered?.includes(at) !== true)
      return parts.map((question, at) => ({ question, found: isFound(at) }))
    },
    stage: (milliseconds: number): StageTime => ({
      stage: "read",
      milliseconds,
      ...(end !== undefined && end.tokens > 0 && { tokens: end.tokens }),
      ...(end !== undefined && end.calls > 1 && { calls: end.calls }),
      ...(end?.notRead !== undefined && { failed: end.notRead.message })
    }),
    outcome: (hasClosest: boolean): Pick<Answer, "outcome" | "notRead"> => {
      const found = sentences.length > 0
      // Sentences that were left out are no sign that the documents do not answer.
      const leftOut = unsupported > 0 ? "unsupported" : dropped > 0 ? "unproven" : undefined
      const fault = end?.notRead ?? (found || leftOut === undefined ? undefined : notRead(leftOut))
      const without = fault !== undefined ? "unread" : hasClosest ? "passages" : "nothing"
      return { outcome: found ? "answer" : without, ...(fault !== undefined && { notRead: fault }) }
    }
  }
}
