/** The question box. It grows with the text; Enter asks. */
import { useEffect, useRef } from "preact/hooks"
import { askQuestion, current, questionDraft } from "../questions/questions.ts"

/** Shared with the shortcut `/`, which moves the focus here. */
export const QUESTION_ID = "question"

export const QuestionBox = () => {
  const box = useRef<HTMLTextAreaElement>(null)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    // Not on a phone: its keyboard would cover half of the page.
    if (current.value === undefined && matchMedia("(pointer: fine)").matches) box.current?.focus()
  }, [])
  const submit = (event: Event) => {
    event.preventDefault()
    const text = box.current?.value ?? ""
    if (text.trim() === "") return box.current?.focus()
    askQuestion(text)
    questionDraft.value = ""
    if (box.current !== null) box.current.value = ""
    return undefined
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault()
      form.current?.requestSubmit()
    } else if (event.key === "Escape") box.current?.blur()
  }
  return (
    <search>
      <form class="question-box" ref={form} onSubmit={submit} aria-busy={current.value?.state === "asking"}>
        <label class="unseen" htmlFor={QUESTION_ID}>
          Your question
        </label>
        <textarea
          id={QUESTION_ID}
          ref={box}
          rows={1}
          maxLength={4000}
          defaultValue={questionDraft.peek()}
          onInput={(event) => (questionDraft.value = event.currentTarget.value)}
          placeholder={current.value === undefined ? "Ask a question" : "Ask another question"}
          aria-keyshortcuts="/"
          onKeyDown={onKeyDown}
        />
        <kbd aria-hidden="true">/</kbd>
        <button class="button primary" type="submit">
          Ask
        </button>
      </form>
    </search>
  )
}
