/** Whether a text speaks of another figure, another year or another thing of a number than is asked for. */
import type { ReaderPassage } from "@sluice/core"
import { names } from "./numbered.ts"
import { picturesIn } from "./pictures.ts"
import { type Question, YEAR } from "./question.ts"

/** Whether a figure, a year or the thing of a number that is asked for is neither in a passage nor spoken of there. */
export const lacksTheOne = (
  { asksWhether, numbered, years }: Question,
  pictures: ReadonlySet<string>,
  { text, title }: ReaderPassage
): boolean => {
  const all = `${title}\n${text}`
  if (pictures.size > 0 && pictures.isDisjointFrom(picturesIn(all))) return true
  if (years.some((year) => !year.test(title) && !year.test(text))) return true
  return (
    !asksWhether &&
    numbered.some((thing) => /^\d/.test(thing.number) && !thing.alone.test(all) && names(thing, all) !== true)
  )
}

/** Whether a sentence names years, and neither it nor what stands above it names one of those asked for. */
const isOfOtherYear = ({ ofYear, years }: Question, text: string, above: ReadonlyArray<string>): boolean =>
  ofYear &&
  years.length > 0 &&
  text.search(YEAR) >= 0 &&
  ![text, ...above].some((each) => years.some((year) => year.test(each)))

/** Whether it speaks of another thing of that number: by its own words, or by the nearest of those that it stands below. */
const isOfOther = ({ numbered }: Question, text: string, above: ReadonlyArray<string>): boolean =>
  numbered.some((thing) => {
    const own = names(thing, text)
    if (own !== undefined || thing.alone.test(text)) return own === false
    for (const each of above) {
      const named = names(thing, each)
      if (named !== undefined) return !named
    }
    return false
  })

/** Whether a text names figures or tables, and none of those asked for. */
const namesOthers = (asked: ReadonlySet<string>, text: string): boolean => {
  if (asked.size === 0) return false
  const named = picturesIn(text)
  return named.size > 0 && asked.isDisjointFrom(named)
}

/** Whether a sentence speaks of another one; `earlier` named a thing by a number last, and `above` is what it stands below. */
export const isOfAnother = (
  question: Question,
  pictures: ReadonlySet<string>,
  text: string,
  earlier: string,
  above: ReadonlyArray<string>
): boolean =>
  namesOthers(pictures, text) ||
  isOfOtherYear(question, text, above) ||
  isOfOther(question, text, [earlier, ...above])
