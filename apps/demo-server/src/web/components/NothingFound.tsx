/** Said plainly: the documents do not answer this. */
import type { Answer } from "../../contract/index.ts"
import { counted } from "../state/counted.ts"

interface Props {
  readonly answer: Answer
  /** What it was looked for in, in words; undefined: everywhere. */
  readonly within: string | undefined
}

/** How much there was to answer from. */
const read = ({ trace: { passages } }: Answer, within: string | undefined): string => {
  if (passages.length > 0)
    return `${counted(passages.length, "passage")} came nearest; none of them answers the question. `
  return within === undefined
    ? "There is nothing in the library to read yet. "
    : `There is nothing to read in what was asked: ${within}. `
}

export const NothingFound = ({ answer, within }: Props) => (
  <div class="nothing">
    <p class="answer">{answer.answer}</p>
    <p>
      {read(answer, within)}
      Try the words that the documents themselves would use, or <a href="#documents">add a document</a> that
      knows.
    </p>
  </div>
)
