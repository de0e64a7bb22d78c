/** Said plainly: the documents do not answer this. */
import type { Answer } from "../../contract/index.ts"
import { counted } from "../state/counted.ts"

export const NothingFound = ({ answer }: { readonly answer: Answer }) => (
  <div class="nothing">
    <p class="answer">{answer.answer}</p>
    <p>
      {answer.trace.passages.length === 0
        ? "There is nothing in the library to read yet. "
        : `${counted(answer.trace.passages.length, "passage")} came nearest; none of them answers the question. `}
      Try the words that the documents themselves would use, or <a href="#documents">add a document</a> that
      knows.
    </p>
  </div>
)
