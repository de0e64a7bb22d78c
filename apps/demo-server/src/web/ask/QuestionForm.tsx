/** The question box, and the filter below it. */
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { documents, findDocuments } from "../documents/documents.ts"
import * as Filter from "../questions/filter.ts"
import { askQuestion, current, questionDraft } from "../questions/questions.ts"
import { LinkButton } from "../ui/Button.tsx"
import { bindText, SearchField, sendOnEnter } from "../ui/Fields.tsx"

/** Shared with the shortcut `/`, which moves the focus here. */
export const QUESTION_ID = "question"

export const QuestionBox = () => {
  const box = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    // Not on a phone: its keyboard would cover half of the page.
    if (current.value === undefined && matchMedia("(pointer: fine)").matches) box.current?.focus()
  }, [])
  const submit = (event: Event) => {
    event.preventDefault()
    box.current?.focus()
    askQuestion(questionDraft.value)
    questionDraft.value = ""
  }
  return (
    <search>
      <form class="question-box screen-only" onSubmit={submit} aria-busy={current.value?.state === "asking"}>
        <label class="visually-hidden" htmlFor={QUESTION_ID}>
          Your question
        </label>
        <textarea
          id={QUESTION_ID}
          ref={box}
          rows={1}
          maxLength={4000}
          {...bindText(questionDraft)}
          placeholder={current.value === undefined ? "Ask a question" : "Ask another question"}
          aria-keyshortcuts="/"
          onKeyDown={(event) => {
            if (event.key === "Escape") box.current?.blur()
            else sendOnEnter(event)
          }}
        />
        <kbd aria-hidden="true">/</kbd>
        <button class="button primary" type="submit">
          Ask
        </button>
      </form>
    </search>
  )
}

/** Rows shown at most; the chosen ones come first. */
const MAX_ROWS = 50
/** More documents than this can be searched. */
const SEARCH_FROM = 8

/** Chooses documents and kinds of passages to answer from. Closed, it is one line. */
export const FilterPanel = () => {
  const search = useSignal("")
  const question = current.value?.question
  const details = useRef<HTMLDetailsElement>(null)
  // A new question closes the panel, so that the answer is in view.
  useEffect(() => details.current?.removeAttribute("open"), [question])
  const all = documents.value ?? []
  if (all.length === 0) return null
  const chosen = Filter.chosenDocuments.value
  const found = findDocuments(search.value).toSorted(
    (a, b) => Number(chosen.has(b.id)) - Number(chosen.has(a.id))
  )
  return (
    <details class="filter-panel" ref={details} data-on={Filter.requestFilter.value !== undefined}>
      <summary class="row unbroken">
        <span class="visually-hidden">Answer from: </span>
        {Filter.chosenFilterText.value}
      </summary>
      <div class="stack card apart filter-panel-body">
        <fieldset class="row">
          <legend>Answer from</legend>
          {Filter.KIND_LIST.map((kind) => (
            <label class="row unbroken baseline near" key={kind}>
              <input
                type="checkbox"
                checked={Filter.chosenKinds.value.has(kind)}
                onChange={() => Filter.toggleKind(kind)}
              />
              {Filter.KIND_NAMES[kind]}
            </label>
          ))}
        </fieldset>
        <fieldset class="filter-documents">
          <legend>In these documents</legend>
          {all.length > SEARCH_FROM && <SearchField label="Find a document by name" text={search} />}
          <ul>
            {found.slice(0, MAX_ROWS).map(({ id, path, title }) => (
              <li key={id}>
                <label class="row unbroken baseline near">
                  <input
                    type="checkbox"
                    checked={chosen.has(id)}
                    onChange={() => Filter.toggleDocument(id)}
                  />
                  <span class="breakable">
                    {title} <span class="path">{path}</span>
                  </span>
                </label>
              </li>
            ))}
          </ul>
          {found.length > MAX_ROWS && (
            <p class="quiet apart">{found.length - MAX_ROWS} more. Search to find them.</p>
          )}
        </fieldset>
        <p>
          <LinkButton aria-disabled={Filter.requestFilter.value === undefined} onClick={Filter.clearFilter}>
            Clear the filter
          </LinkButton>
        </p>
      </div>
    </details>
  )
}
