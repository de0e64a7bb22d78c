/** How a follow-up was understood, and the box for the next one. */
import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import { askFollowUp } from "../questions/conversation.ts"
import type { QuestionState } from "../questions/questions.ts"
import { ActionForm } from "../ui/ActionForm.tsx"
import { LinkButton } from "../ui/Button.tsx"

/** The question that was searched, which can be corrected. */
export const Understood = ({ question }: { readonly question: QuestionState }) => {
  const editing = useSignal(false)
  const { standalone, understand } = question
  if (standalone === undefined) return null
  if (editing.value && understand !== undefined)
    return (
      <ActionForm
        class="row-form"
        actions={["Ask"]}
        onDone={() => (editing.value = false)}
        send={async (read) => {
          understand(read("standalone"))
          return true
        }}
      >
        <div class="field">
          <label class="visually-hidden" htmlFor="standalone">
            The question as it is to be understood
          </label>
          <input
            id="standalone"
            name="standalone"
            defaultValue={standalone.question}
            maxLength={4000}
            required
          />
        </div>
      </ActionForm>
    )
  return (
    <p class="quiet understood">
      Understood as: {standalone.question}{" "}
      {understand !== undefined && question.state !== "asking" && (
        <LinkButton onClick={() => (editing.value = true)}>Correct</LinkButton>
      )}
    </p>
  )
}

export const FollowUpForm = ({ id }: { readonly id: string }) => {
  const box = useRef<HTMLTextAreaElement>(null)
  const submit = (event: Event) => {
    event.preventDefault()
    void askFollowUp(id, box.current?.value ?? "")
    box.current?.form?.reset()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
    event.preventDefault()
    box.current?.form?.requestSubmit()
  }
  return (
    <form class="follow-up" onSubmit={submit}>
      <label class="visually-hidden" htmlFor="follow-up">
        Ask a follow-up
      </label>
      <textarea
        id="follow-up"
        ref={box}
        rows={1}
        maxLength={4000}
        placeholder="Ask a follow-up"
        onKeyDown={onKeyDown}
      />
      <button class="button" type="submit">
        Ask
      </button>
    </form>
  )
}
