/** The source beside the answer; on a phone it covers the page. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { figureName } from "./figureName.ts"
import { closeSource, copies, openPassage, source, type Source } from "./source.ts"
import { CitationSteps } from "./CitationSteps.tsx"
import { FigureCard } from "./FigureCard.tsx"
import { placeOf } from "./placeOf.ts"
import { SourcePages } from "./SourcePages.tsx"
import { SourceText } from "./SourceText.tsx"
import { SourceTools } from "./SourceTools.tsx"
import { useText } from "./useText.ts"

const COVERS = "(max-width: 60rem)"

/** Where the panel covers the page, what lies behind it can be neither read nor reached. */
const useCover = (): void =>
  useEffect(() => {
    const covers = matchMedia(COVERS)
    const behind = document.querySelector(".behind")
    const set = () => behind?.toggleAttribute("inert", covers.matches)
    set()
    covers.addEventListener("change", set)
    return () => {
      covers.removeEventListener("change", set)
      behind?.removeAttribute("inert")
    }
  }, [])

/** The mark of a step in the browser's history. */
const OVER = "sluice-source"

/** Where the panel covers the page, a step back closes it, and leaves what it was opened from. */
const useStepBack = (): void =>
  useLayoutEffect(() => {
    if (!matchMedia(COVERS).matches) return
    history.pushState(OVER, "")
    window.addEventListener("popstate", closeSource)
    return () => {
      window.removeEventListener("popstate", closeSource)
      if (history.state === OVER) history.back()
    }
  }, [])

const Panel = ({ shown }: { readonly shown: Source }) => {
  const title = useRef<HTMLHeadingElement>(null)
  const [asText, setAsText] = useState(false)
  const { problem, text } = useText(shown.collection, shown.documentId)
  useCover()
  useStepBack()
  useLayoutEffect(() => title.current?.focus({ preventScroll: true }), [])
  return (
    <aside class="source" aria-labelledby="source-title">
      <div class="source-head">
        <header>
          <h2 id="source-title" ref={title} tabIndex={-1}>
            {shown.n !== undefined && <span class="number">{shown.n}</span>}
            {shown.title}
          </h2>
          {shown.stop !== undefined && <CitationSteps stop={shown.stop} />}
          <button
            class="icon"
            type="button"
            aria-label="Close the source"
            aria-keyshortcuts="Escape"
            onClick={closeSource}
          >
            ×
          </button>
          <p class="place">
            {shown.figure !== undefined && <b>{figureName(shown.figure)}, </b>}
            {placeOf(
              undefined,
              shown.headings.filter((each) => each !== shown.title),
              shown.page
            )}
          </p>
          {copies.value.length > 0 && (
            <p class="place also">
              The same is in
              {copies.value.map((copy) => (
                <button class="link" type="button" key={copy.passage.id} onClick={() => openPassage(copy)}>
                  {placeOf(copy.passage.document.path, [], copy.passage.page)}
                </button>
              ))}
            </p>
          )}
        </header>
        {text !== undefined && (
          <SourceTools collection={shown.collection} text={text} asText={asText} onAsText={setAsText} />
        )}
      </div>
      {shown.figure !== undefined && text !== undefined && (
        <FigureCard
          shown={shown}
          figure={shown.figure}
          // Of an image, the page is the picture.
          pictured={text.document.format !== "image" || asText}
          key={shown.stop}
        />
      )}
      {problem !== undefined && (
        <p class="problem pad" role="alert">
          {problem}
        </p>
      )}
      {problem === undefined && text === undefined && <p class="quiet pad">Reading…</p>}
      {text !== undefined &&
        (text.pages.length > 0 && !asText ? (
          <SourcePages
            shown={shown}
            pages={text.pages.length}
            dense={text.document.format === "pdf"}
            key={shown.documentId}
          />
        ) : (
          <SourceText shown={shown} text={text} key={shown.documentId} />
        ))}
    </aside>
  )
}

export const SourcePanel = () => (source.value === undefined ? null : <Panel shown={source.value} />)
