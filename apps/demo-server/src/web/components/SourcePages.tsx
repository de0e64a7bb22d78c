/** A paged document, page by page, from the cited one. */
import { useEffect, useRef, useState } from "preact/hooks"
import type { PageText } from "../../contract/index.ts"
import { toFailure } from "../api/Failure.ts"
import { loadPage, type Source } from "../state/source.ts"
import { PageFacsimile } from "./PageFacsimile.tsx"
import { scrollToQuote } from "./scrollToQuote.ts"

interface Props {
  readonly shown: Source
  readonly pages: number
}

export const SourcePages = ({ pages, shown }: Props) => {
  const [number, setNumber] = useState(shown.page ?? 1)
  const [page, setPage] = useState<PageText | undefined>(undefined)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const body = useRef<HTMLElement>(null)

  useEffect(() => setNumber(shown.page ?? 1), [shown])
  useEffect(() => {
    let here = true
    setProblem(undefined)
    loadPage(shown.documentId, number).then(
      (loaded) => here && setPage(loaded),
      (thrown: unknown) => here && setProblem(toFailure(thrown).message)
    )
    return () => {
      here = false
    }
  }, [shown.documentId, number])
  useEffect(() => scrollToQuote(body.current), [shown, page])

  const cited = shown.boxes.filter((each) => each.page === number).map(({ box }) => box)
  return (
    <section class="source-body pages" ref={body} aria-label={`Page ${number} of ${pages}`}>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {page !== undefined && <PageFacsimile page={page} cited={page.number === number ? cited : []} />}
      <fieldset class="page-steps" aria-label="Pages">
        <button class="button" type="button" disabled={number <= 1} onClick={() => setNumber(number - 1)}>
          Previous page
        </button>
        <span aria-live="polite">
          Page {number} of {pages}
        </span>
        <button class="button" type="button" disabled={number >= pages} onClick={() => setNumber(number + 1)}>
          Next page
        </button>
      </fieldset>
    </section>
  )
}
