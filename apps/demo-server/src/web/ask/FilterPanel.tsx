/** Chooses documents and kinds of passages to answer from. Closed, it is one line. */
import { useEffect, useRef, useState } from "preact/hooks"
import { documents } from "../documents/documents.ts"
import {
  chosenDocuments,
  chosenKinds,
  clearFilter,
  filterText,
  KIND_NAMES,
  type PassageKind,
  requestFilter,
  toggleDocument,
  toggleKind
} from "../questions/filter.ts"
import { current } from "../questions/questions.ts"
import { SearchField } from "../ui/Fields.tsx"
import { matchesSearch } from "../ui/format.ts"

/** Rows shown at most; the chosen ones come first. */
const MAX_ROWS = 50
/** More documents than this can be searched. */
const SEARCH_FROM = 8

export const FilterPanel = () => {
  const [search, setSearch] = useState("")
  const question = current.value?.question
  const details = useRef<HTMLDetailsElement>(null)
  // A new question closes the panel, so that the answer is in view.
  useEffect(() => details.current?.removeAttribute("open"), [question])
  const all = documents.value ?? []
  if (all.length === 0) return null
  const chosen = chosenDocuments.value
  const found = all
    .filter(({ path, title }) => matchesSearch(`${title} ${path}`, search))
    .toSorted((a, b) => Number(chosen.has(b.id)) - Number(chosen.has(a.id)))
  return (
    <details class="narrowing" ref={details} data-on={requestFilter.value !== undefined}>
      <summary>
        <span class="unseen">Answer from: </span>
        {filterText.value}
      </summary>
      <div class="narrowing-panel">
        <fieldset class="kinds">
          <legend>Answer from</legend>
          {(Object.keys(KIND_NAMES) as Array<PassageKind>).map((kind) => (
            <label key={kind}>
              <input
                type="checkbox"
                checked={chosenKinds.value.has(kind)}
                onChange={() => toggleKind(kind)}
              />
              {KIND_NAMES[kind]}
            </label>
          ))}
        </fieldset>
        <fieldset class="narrowing-documents">
          <legend>In these documents</legend>
          {all.length > SEARCH_FROM && (
            <SearchField
              label="Find a document by name"
              placeholder="Find by name"
              value={search}
              onValue={setSearch}
            />
          )}
          <ul>
            {found.slice(0, MAX_ROWS).map(({ id, path, title }) => (
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
          {found.length > MAX_ROWS && (
            <p class="quiet">{found.length - MAX_ROWS} more. Search to find them.</p>
          )}
        </fieldset>
        <p>
          <button
            class="link"
            type="button"
            aria-disabled={requestFilter.value === undefined}
            onClick={clearFilter}
          >
            Clear the filter
          </button>
        </p>
      </div>
    </details>
  )
}
