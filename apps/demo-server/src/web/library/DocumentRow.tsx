/** One document of the library. */
import type { DocumentInfo } from "../../contract/index.ts"
import { counted } from "../ui/counted.ts"
import { removeDocument } from "../documents/documents.ts"
import { openDocument } from "../source/source.ts"
import { byteSize } from "../ui/byteSize.ts"

const FORMAT = {
  markdown: "Markdown",
  html: "HTML",
  text: "Text",
  pdf: "PDF",
  docx: "Word",
  image: "Image"
} as const

/** What could not be read, to be looked up. */
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

export const DocumentRow = ({ document }: { readonly document: DocumentInfo }) => (
  <li>
    <button class="open" type="button" onClick={() => openDocument(document)}>
      <span class="title">{document.title}</span>
      <span class="path">{document.path}</span>
    </button>
    <span class="facts">
      <span class="format">{FORMAT[document.format]}</span>
      <span>{document.pages === undefined ? "" : counted(document.pages, "page")}</span>
      <span>{document.figures === undefined ? "" : counted(document.figures, "figure")}</span>
      <span>{counted(document.passages, "passage")}</span>
      <span>{byteSize(document.bytes)}</span>
    </span>
    <button
      class="icon"
      type="button"
      aria-label={`Remove ${document.title}`}
      title="Remove"
      onClick={() => removeDocument(document)}
    >
      ×
    </button>
    {document.faults !== undefined && document.faults.length > 0 && <Faults faults={document.faults} />}
  </li>
)
