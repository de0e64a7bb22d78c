/** Whether a text speaks of another figure, another year or another thing of a number than is asked for. */
import type { ReaderPassage } from "@sluice/core"
import { figuresIn, mentionsThing } from "./references.ts"
import { type Question, YEAR } from "./question.ts"

/** Whether a figure, a year or the thing of a number that is asked for is neither in a passage nor spoken of there. */
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

/** Whether a sentence names years, and neither it nor what stands above it names one of those asked for. */
const isAboutOtherYear = (
  { limitedToYears, years }: Question,
  text: string,
  above: ReadonlyArray<string>
): boolean =>
  limitedToYears &&
  years.length > 0 &&
  text.search(YEAR) >= 0 &&
  ![text, ...above].some((each) => years.some((year) => year.test(each)))

/** Whether it speaks of another thing of that number: by its own words, or by the nearest of those that it stands below. */
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

/** Whether a text names figures or tables, and none of those asked for. */
const mentionsOtherFigures = (asked: ReadonlySet<string>, text: string): boolean => {
  if (asked.size === 0) return false
  const named = figuresIn(text)
  return named.size > 0 && asked.isDisjointFrom(named)
}

/** Whether a sentence speaks of another one; `earlier` named a thing by a number last, and `above` is what it stands below. */
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
