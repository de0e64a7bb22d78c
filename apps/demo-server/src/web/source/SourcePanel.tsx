/** The source beside the answer; on a phone it covers the page. */
import { useLayoutEffect, useState } from "preact/hooks"
import { withCollection } from "../api/request.ts"
import { loadText } from "../documents/documents.ts"
import { focusOnAppear, IconButton, LinkButton, NewTabLink, Steps } from "../ui/Button.tsx"
import { figureLabel, locationText } from "../ui/format.ts"
import { ErrorMessage } from "../ui/Notices.tsx"
import { DocumentSummary } from "./DocumentSummary.tsx"
import { FigureCard } from "./FigureImage.tsx"
import * as Source from "./source.ts"
import { SourcePages, useLoaded } from "./SourcePages.tsx"
import { SourceText } from "./SourceText.tsx"

/** Where the panel covers the page: the same as in `source.css`. */
const COVERS = "(max-width: 60rem)"

/** The state of our entry in the browser's history. */
const HISTORY_STATE = "sluice-source"

/** Where the panel covers the page, a step back closes it. */
const useStepBack = (): void =>
  useLayoutEffect(() => {
    if (!matchMedia(COVERS).matches) return
    history.pushState(HISTORY_STATE, "")
    window.addEventListener("popstate", Source.closeSource)
    return () => {
      window.removeEventListener("popstate", Source.closeSource)
      if (history.state === HISTORY_STATE) history.back()
    }
  }, [])

const Head = ({ shown }: { readonly shown: Source.OpenSource }) => {
  const stops = Source.stops.value
  return (
    <header>
      <h2 class="row unbroken baseline breakable" id="source-title" ref={focusOnAppear} tabIndex={-1}>
        {shown.n !== undefined && <span class="number">{shown.n}</span>}
        {shown.title}
      </h2>
      {shown.stop !== undefined && (
        <Steps
          label="Citations"
          back={{ label: "Previous citation", sign: "‹", "aria-keyshortcuts": "K ArrowLeft" }}
          forward={{ label: "Next citation", sign: "›", "aria-keyshortcuts": "J ArrowRight" }}
          onStep={Source.stepCitation}
        >
          <span>
            <b>{stops.findIndex(({ stop }) => stop === shown.stop) + 1}</b> of {stops.length}
          </span>
        </Steps>
      )}
      <IconButton label="Close the source" sign="×" aria-keyshortcuts="Escape" onClick={Source.closeSource} />
      <p class="location quiet own-line">
        {shown.figure !== undefined && <b>{figureLabel(shown.figure)}, </b>}
        {locationText(undefined, {
          ...shown,
          headings: shown.headings.filter((each) => each !== shown.title)
        })}
      </p>
      {Source.copies.value.length > 0 && (
        <p class="row baseline own-line breakable copies quiet">
          The same text is in
          {Source.copies.value.map((copy) => (
            <LinkButton key={copy.passage.id} onClick={() => Source.openPassage(copy)}>
              {locationText(copy.passage.document.path, { ...copy.passage, headings: [] })}
            </LinkButton>
          ))}
        </p>
      )}
    </header>
  )
}

const Panel = ({ shown }: { readonly shown: Source.OpenSource }) => {
  const { collection, documentId } = shown
  const [asText, setAsText] = useState(false)
  const loaded = useLoaded(() => loadText(collection, documentId), [collection, documentId])
  const text = loaded.value?.document.id === documentId ? loaded.value : undefined
  const Shown = asText || text?.pages.length === 0 ? SourceText : SourcePages
  useStepBack()
  return (
    <aside class="source screen-only" aria-labelledby="source-title">
      <div class="source-head">
        <Head shown={shown} />
        {text !== undefined && (
          <div class="row unbroken source-tools">
            {text.pages.length > 0 && (
              <fieldset class="switch" aria-label="Show as">
                <button type="button" aria-pressed={!asText} onClick={() => setAsText(false)}>
                  Page
                </button>
                <button type="button" aria-pressed={asText} onClick={() => setAsText(true)}>
                  Text
                </button>
              </fieldset>
            )}
            <span class="path fills breakable">{text.document.path}</span>
            <NewTabLink href={withCollection(collection, `/documents/${documentId}/file`)}>
              Original file
            </NewTabLink>
          </div>
        )}
        {text !== undefined && <DocumentSummary collection={collection} documentId={documentId} />}
      </div>
      {shown.figure !== undefined && text !== undefined && (
        <FigureCard
          shown={shown}
          figure={shown.figure}
          // The page of an image file is the image itself.
          withImage={text.document.format !== "image" || asText}
          key={shown.stop}
        />
      )}
      <ErrorMessage error={loaded.error} />
      {loaded.error === undefined && text === undefined && <p class="quiet pad">Loading…</p>}
      {text !== undefined && <Shown shown={shown} text={text} key={documentId} />}
    </aside>
  )
}

export const SourcePanel = () =>
  Source.source.value === undefined ? null : <Panel shown={Source.source.value} />
