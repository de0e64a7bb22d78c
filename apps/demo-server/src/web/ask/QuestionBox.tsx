/** Where a question is written. It grows with the text; Enter asks. */
import { useEffect, useRef } from "preact/hooks"
import { ask, current, draft } from "../questions/questions.ts"

/** Shared with the shortcut `/`, which moves the focus here. */
export const QUESTION_ID = "question"

export const QuestionBox = () => {
  const box = useRef<HTMLTextAreaElement>(null)
  const form = useRef<HTMLFormElement>(null)
  const asking = current.value?.state === "asking"

  useEffect(() => {
    // A keyboard at hand means that typing may begin at once; on a phone it would cover half of the page.
    if (current.value === undefined && matchMedia("(pointer: fine)").matches) box.current?.focus()
  }, [])

  const submit = (event: Event) => {
    event.preventDefault()
    const text = box.current?.value ?? ""
    if (text.trim() === "") return box.current?.focus()
    ask(text)
    draft.value = ""
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
      <form class="question-box" ref={form} onSubmit={submit} aria-busy={asking}>
        <label class="unseen" htmlFor={QUESTION_ID}>
          Question to the documents
        </label>
        <textarea
          id={QUESTION_ID}
          ref={box}
          rows={1}
          maxLength={4000}
          defaultValue={draft.peek()}
          onInput={(event) => (draft.value = event.currentTarget.value)}
          placeholder={current.value === undefined ? "Your question" : "Ask another question"}
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
