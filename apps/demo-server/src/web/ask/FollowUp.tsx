/** How a follow-up was understood, and the box for the next one. */
import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import { askFollowUp } from "../questions/conversation.ts"
import type { QuestionState } from "../questions/questions.ts"
import { ActionForm } from "../ui/ActionForm.tsx"
import { LinkButton } from "../ui/Button.tsx"
import { sendOnEnter } from "../ui/Fields.tsx"

interface EditFormProps {
  readonly action: string
  readonly label: string
  readonly value: string
  readonly most?: number
  readonly send: (text: string) => void
  readonly onDone: () => void
}

/** A line that is edited in place. */
export const EditForm = ({ action, label, most = 4000, onDone, send, value }: EditFormProps) => (
  <ActionForm
    class="row-form"
    actions={[action]}
    onDone={onDone}
    send={async (read) => {
      send(read("edited"))
      return true
    }}
  >
    <div class="stack tight field">
      <label class="visually-hidden" htmlFor="edited">
        {label}
      </label>
      <input id="edited" name="edited" defaultValue={value} maxLength={most} required autofocus />
    </div>
  </ActionForm>
)

/** The question that was searched, which can be corrected. */
export const Understood = ({ question }: { readonly question: QuestionState }) => {
  const editing = useSignal(false)
  const { standalone, understand } = question
  if (standalone === undefined) return null
  if (editing.value && understand !== undefined)
    return (
      <EditForm
        action="Ask"
        label="The question as it is to be understood"
        value={standalone.question}
        onDone={() => (editing.value = false)}
        send={understand}
      />
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
  return (
    <form class="follow-up screen-only" onSubmit={submit}>
      <label class="visually-hidden" htmlFor="follow-up">
        Ask a follow-up
      </label>
      <textarea
        id="follow-up"
        ref={box}
        rows={1}
        maxLength={4000}
        placeholder="Ask a follow-up"
        onKeyDown={sendOnEnter}
      />
      <button class="button" type="submit">
        Ask
      </button>
    </form>
  )
}
