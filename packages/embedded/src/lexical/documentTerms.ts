/** The terms of documents that are ranked, found once for each object that cannot change. */
import type { Candidate } from "@sluice/core"
import { type TermedText, termsOfPassage } from "./embedText.ts"
import { timesForgotten } from "../text/Term.ts"

/** For as long as somebody holds the document; terms that were forgotten since are others now. */
const known = new WeakMap<Candidate, { readonly passage: TermedText; readonly forgotten: number }>()

/** See `termsOfPassage`. Whoever ranks a frozen object again has them: half of the time that ranking takes. */
export const termsOfDocument = (document: Candidate): TermedText => {
  const there = known.get(document)
  if (there !== undefined && there.forgotten === timesForgotten()) return there.passage
  const passage = termsOfPassage(document.text, document.title)
  if (Object.isFrozen(document)) known.set(document, { passage, forgotten: timesForgotten() })
  return passage
}
