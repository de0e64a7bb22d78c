/** A question on its way: what is being done, and that one need not wait for it. */
import { type Asked, stopAsking } from "../questions/questions.ts"

export const Waiting = ({ asked }: { readonly asked: Asked }) => (
  <>
    <div class="flowing" />
    <p class="waiting quiet">
      {asked.stages.length === 0
        ? "Looking for passages"
        : asked.sentences.length === 0
          ? "Reading what was found"
          : "Writing the answer"}
      <button class="link" type="button" onClick={() => stopAsking(asked)}>
        Stop
      </button>
    </p>
  </>
)
