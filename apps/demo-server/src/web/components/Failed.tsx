/** A question that could not be answered, why, and another try. */
import type { Failure } from "../api/Failure.ts"
import { ask } from "../state/questions.ts"

interface Props {
  readonly failure: Failure
  readonly question: string
}

export const Failed = ({ failure, question }: Props) => (
  <div class="failed" role="alert">
    <p>{failure.message}</p>
    <button class="button" type="button" onClick={() => ask(question)}>
      Ask again
    </button>
  </div>
)
