/** Said plainly: the documents do not answer this. */
import type { AnswerBody } from "../../contract/index.ts"
import { counted } from "../ui/counted.ts"
import { stockOf } from "../documents/stock.ts"

interface Props {
  readonly answer: AnswerBody
  /** What it was asked of. */
  readonly collection: string
  /** What it was looked for in, in words; undefined: everywhere. */
  readonly within: string | undefined
}

/** How much there was to answer from. */
const read = ({ answer: { trace }, collection, within }: Props): string => {
  const { passages } = trace
  if (passages.length > 0)
    return `${counted(passages.length, "passage")} came nearest; none of them answers the question. `
  if (within !== undefined) return `There is nothing to read in what was asked: ${within}. `
  return (stockOf(collection).passages ?? 0) > 0
    ? "No passage comes near it. "
    : "There is nothing to read here yet. "
}

export const NothingFound = (props: Props) => (
  <div class="nothing">
    <p class="answer">{props.answer.answer}</p>
    <p>
      {read(props)}
      Try the words that the documents themselves would use, or <a href="#documents">add a document</a> that
      knows.
    </p>
  </div>
)
