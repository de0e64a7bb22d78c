/** A question that could not be answered, why, and another try. */
import { askAgain, type Asked, waits } from "../questions/questions.ts"

export const Failed = ({ asked }: { readonly asked: Asked }) => (
  <div class="failed" role="alert">
    <p>
      {asked.failure?.message}
      {waits(asked) && " The question is asked again then."}
    </p>
    <button class="button" type="button" onClick={() => askAgain(asked)}>
      Ask again
    </button>
  </div>
)
