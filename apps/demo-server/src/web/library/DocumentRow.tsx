/** One document of the list. */
import type { DocumentInfo } from "../../contract/index.ts"
import { removeDocument } from "../documents/documents.ts"
import { openDocument } from "../source/source.ts"
import { byteSize, counted } from "../ui/format.ts"

const FORMAT_NAMES: Readonly<Record<DocumentInfo["format"], string>> = {
  markdown: "Markdown",
  html: "HTML",
  text: "Text",
  pdf: "PDF",
  docx: "Word",
  image: "Image"
}

/** Parts that could not be read. */
const Faults = ({ faults }: { readonly faults: NonNullable<DocumentInfo["faults"]> }) => (
  <details class="faults">
    <summary>{counted(faults.length, "part")} could not be read</summary>
    <ul>
      {faults.map(({ message, page }, at) => (
        <li key={at}>
          {page !== undefined && <b>p. {page} </b>}
          {message}
        </li>
      ))}
    </ul>
  </details>
)

const figuresText = (count: number): string =>
  count === 1 ? "1 figure or table" : `${count.toLocaleString()} figures and tables`

export const DocumentRow = ({ document }: { readonly document: DocumentInfo }) => {
  const { faults = [], figures, pages, title } = document
  return (
    <li>
      <button class="open" type="button" onClick={() => openDocument(document)}>
        <span class="title">{title}</span>
        <span class="path">{document.path}</span>
      </button>
      <span class="facts">
        <span class="format">{FORMAT_NAMES[document.format]}</span>
        <span>{pages === undefined ? "" : counted(pages, "page")}</span>
        <span>{figures === undefined ? "" : figuresText(figures)}</span>
        <span>{counted(document.passages, "passage")}</span>
        <span>{byteSize(document.bytes)}</span>
      </span>
      <button
        class="icon"
        type="button"
        aria-label={`Remove ${title}`}
        title="Remove"
        onClick={() => removeDocument(document)}
      >
        ×
      </button>
      {faults.length > 0 && <Faults faults={faults} />}
    </li>
  )
}
