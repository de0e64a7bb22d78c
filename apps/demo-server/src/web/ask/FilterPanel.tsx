/** What is asked: all documents or some, text, figures or tables. Shut, one line says it. */
import { useEffect, useRef, useState } from "preact/hooks"
import { current } from "../questions/questions.ts"
import { documents } from "../documents/documents.ts"
import {
  chosenDocuments,
  chosenKinds,
  inWords,
  KINDS,
  takeAll,
  toggleDocument,
  toggleKind,
  wireFilter
} from "../questions/filter.ts"

/** Rows at most, of those that fit the words; those chosen come first. */
const ROWS = 50
const FIND_FROM = 8

export const Narrowing = () => {
  const [words, setWords] = useState("")
  const question = current.value?.question
  const details = useRef<HTMLDetailsElement>(null)
  // Whoever has asked looks at the answer.
  useEffect(() => details.current?.removeAttribute("open"), [question])
  const all = documents.value ?? []
  if (all.length === 0) return null
  const chosen = chosenDocuments.value
  const wanted = words.toLowerCase().split(/\s+/)
  const found = all
    .filter(({ path, title }) => wanted.every((word) => `${title} ${path}`.toLowerCase().includes(word)))
    .toSorted((a, b) => Number(chosen.has(b.id)) - Number(chosen.has(a.id)))
  return (
    <details class="narrowing" ref={details} data-on={wireFilter.value !== undefined}>
      <summary>
        <span class="unseen">Answer from: </span>
        {inWords.value}
      </summary>
      <div class="narrowing-panel">
        <fieldset class="kinds">
          <legend>Answer from</legend>
          {KINDS.map(([kind, name]) => (
            <label key={kind}>
              <input
                type="checkbox"
                checked={chosenKinds.value.has(kind)}
                onChange={() => toggleKind(kind)}
              />
              {name}
            </label>
          ))}
        </fieldset>
        <fieldset class="narrowing-documents">
          <legend>In these documents</legend>
          {all.length > FIND_FROM && (
            <label class="filter">
              <span class="unseen">Find a document by name</span>
              <input
                type="search"
                placeholder="Find by name"
                value={words}
                onInput={(event) => setWords(event.currentTarget.value)}
              />
            </label>
          )}
          <ul>
            {found.slice(0, ROWS).map(({ id, path, title }) => (
              <li key={id}>
                <label>
                  <input type="checkbox" checked={chosen.has(id)} onChange={() => toggleDocument(id)} />
                  <span>
                    {title} <span class="path">{path}</span>
                  </span>
                </label>
              </li>
            ))}
          </ul>
          {found.length > ROWS && <p class="quiet">And {found.length - ROWS} more: find them by name.</p>}
        </fieldset>
        <p>
          <button class="link" type="button" aria-disabled={wireFilter.value === undefined} onClick={takeAll}>
            Ask all of them
          </button>
        </p>
      </div>
    </details>
  )
}
