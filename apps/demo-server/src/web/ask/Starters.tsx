/** Questions to begin with. */
import { DEFAULT_COLLECTION } from "../api/collectionPath.ts"
import { questionHref } from "../page/route.ts"

export const Starters = ({ questions }: { readonly questions: ReadonlyArray<string> }) =>
  questions.length === 0 ? null : (
    <ul class="starters" aria-label="Questions to start with">
      {questions.map((question) => (
        <li key={question}>
          <a href={questionHref(question, DEFAULT_COLLECTION)}>{question}</a>
        </li>
      ))}
    </ul>
  )
