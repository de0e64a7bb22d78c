/** The source beside the answer; on a phone it covers the page. */
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import type { DocumentText } from "../../contract/index.ts"
import { withCollection } from "../api/request.ts"
import { loadText } from "../documents/documents.ts"
import { IconButton, LinkButton, Steps } from "../ui/Button.tsx"
import { FigureCard } from "./FigureImage.tsx"
import {
  closeSource,
  copies,
  figureLabel,
  locationText,
  openPassage,
  type OpenSource,
  source,
  stepCitation,
  stops
} from "./source.ts"
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
    window.addEventListener("popstate", closeSource)
    return () => {
      window.removeEventListener("popstate", closeSource)
      if (history.state === HISTORY_STATE) history.back()
    }
  }, [])

/** Steps through the citations and the checked figures. */
const CitationSteps = ({ stop }: { readonly stop: string }) => (
  <Steps
    label="Citations"
    back={{ label: "Previous citation", sign: "‹", "aria-keyshortcuts": "K ArrowLeft" }}
    forward={{ label: "Next citation", sign: "›", "aria-keyshortcuts": "J ArrowRight" }}
    onStep={stepCitation}
  >
    <span>
      <b>{stops.value.findIndex((each) => each.stop === stop) + 1}</b> of {stops.value.length}
    </span>
  </Steps>
)

const Head = ({ shown }: { readonly shown: OpenSource }) => {
  const title = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => title.current?.focus({ preventScroll: true }), [])
  return (
    <header>
      <h2 id="source-title" ref={title} tabIndex={-1}>
        {shown.n !== undefined && <span class="number">{shown.n}</span>}
        {shown.title}
      </h2>
      {shown.stop !== undefined && <CitationSteps stop={shown.stop} />}
      <IconButton label="Close the source" sign="×" aria-keyshortcuts="Escape" onClick={closeSource} />
      <p class="location">
        {shown.figure !== undefined && <b>{figureLabel(shown.figure)}, </b>}
        {locationText(
          undefined,
          shown.headings.filter((each) => each !== shown.title),
          shown.page
        )}
      </p>
      {copies.value.length > 0 && (
        <p class="location copies">
          The same text is in
          {copies.value.map((copy) => (
            <LinkButton key={copy.passage.id} onClick={() => openPassage(copy)}>
              {locationText(copy.passage.document.path, [], copy.passage.page)}
            </LinkButton>
          ))}
        </p>
      )}
    </header>
  )
}

interface ToolsProps {
  readonly collection: string
  readonly text: DocumentText
  readonly asText: boolean
  readonly onAsText: (asText: boolean) => void
}

/** Page or text, the document's path, and its file. */
const Tools = ({ asText, collection, onAsText, text: { document, pages } }: ToolsProps) => (
  <div class="source-tools">
    {pages.length > 0 && (
      <fieldset class="switch" aria-label="Show as">
        <button type="button" aria-pressed={!asText} onClick={() => onAsText(false)}>
          Page
        </button>
        <button type="button" aria-pressed={asText} onClick={() => onAsText(true)}>
          Text
        </button>
      </fieldset>
    )}
    <span class="path">{document.path}</span>
    <a href={withCollection(collection, `/documents/${document.id}/file`)} target="_blank" rel="noreferrer">
      Original file
    </a>
  </div>
)

const Panel = ({ shown }: { readonly shown: OpenSource }) => {
  const { collection, documentId } = shown
  const [asText, setAsText] = useState(false)
  const loaded = useLoaded(
    () => loadText(collection, documentId).then((text) => ({ documentId, text })),
    [collection, documentId]
  )
  const text = loaded.value?.documentId === documentId ? loaded.value.text : undefined
  useStepBack()
  return (
    <aside class="source" aria-labelledby="source-title">
      <div class="source-head">
        <Head shown={shown} />
        {text !== undefined && (
          <Tools collection={collection} text={text} asText={asText} onAsText={setAsText} />
        )}
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
      {loaded.error !== undefined && (
        <p class="problem pad" role="alert">
          {loaded.error}
        </p>
      )}
      {loaded.error === undefined && text === undefined && <p class="quiet pad">Loading…</p>}
      {text !== undefined && text.pages.length > 0 && !asText && (
        <SourcePages shown={shown} text={text} key={documentId} />
      )}
      {text !== undefined && (text.pages.length === 0 || asText) && (
        <SourceText shown={shown} text={text} key={documentId} />
      )}
    </aside>
  )
}

export const SourcePanel = () => (source.value === undefined ? null : <Panel shown={source.value} />)
