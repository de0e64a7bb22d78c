/** Whether a text is about another figure, year or numbered thing than the question. */
import type { ReaderPassage } from "@sluice/core/models"
import { figuresIn, mentionsThing } from "./references.ts"
import { type Question, YEAR } from "./question.ts"

/** True if a passage does not mention the figure, year or numbered thing of the question. */
export const lacksReference = (
  { isYesNo, numbered, years }: Question,
  pictures: ReadonlySet<string>,
  { text, title }: ReaderPassage
): boolean => {
  const all = `${title}\n${text}`
  if (pictures.size > 0 && pictures.isDisjointFrom(figuresIn(all))) return true
  if (years.some((year) => !year.test(title) && !year.test(text))) return true
  return (
    !isYesNo &&
    numbered.some(
      (thing) => /^\d/.test(thing.number) && !thing.alone.test(all) && mentionsThing(thing, all) !== true
    )
  )
}

/** True if a sentence names years, and neither it nor the text above it names one of the question. */
const isAboutOtherYear = (
  { limitedToYears, years }: Question,
  text: string,
  above: ReadonlyArray<string>
): boolean =>
  limitedToYears &&
  years.length > 0 &&
  text.search(YEAR) >= 0 &&
  ![text, ...above].some((each) => years.some((year) => year.test(each)))

/** True if a sentence is about another thing of that kind, by its own words or by the nearest text above it. */
const isAboutOtherThing = ({ numbered }: Question, text: string, above: ReadonlyArray<string>): boolean =>
  numbered.some((thing) => {
    const own = mentionsThing(thing, text)
    if (own !== undefined || thing.alone.test(text)) return own === false
    for (const each of above) {
      const named = mentionsThing(thing, each)
      if (named !== undefined) return !named
    }
    return false
  })

/** True if a text names figures or tables, but none of the question. */
const mentionsOtherFigures = (asked: ReadonlySet<string>, text: string): boolean => {
  if (asked.size === 0) return false
  const named = figuresIn(text)
  return named.size > 0 && asked.isDisjointFrom(named)
}

/** True if a sentence is about another thing. `earlier` is the last sentence that named a numbered thing; `above` the text above. */
export const isAboutOther = (
  question: Question,
  pictures: ReadonlySet<string>,
  text: string,
  earlier: string,
  above: ReadonlyArray<string>
): boolean =>
  mentionsOtherFigures(pictures, text) ||
  isAboutOtherYear(question, text, above) ||
  isAboutOtherThing(question, text, [earlier, ...above])
