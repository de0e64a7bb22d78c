/** One document of the library. */
import type { DocumentInfo } from "../../contract/index.ts"
import { counted } from "../state/counted.ts"
import { removeDocument } from "../state/library.ts"
import { openDocument } from "../state/source.ts"
import { byteSize } from "./byteSize.ts"

const FORMAT = { markdown: "Markdown", html: "HTML", text: "Text", pdf: "PDF" } as const

export const DocumentRow = ({ document }: { readonly document: DocumentInfo }) => (
  <li>
    <button class="open" type="button" onClick={() => openDocument(document)}>
      <span class="title">{document.title}</span>
      <span class="path">{document.path}</span>
    </button>
    <span class="facts">
      <span class="format">{FORMAT[document.format]}</span>
      <span>{document.pages === undefined ? "" : counted(document.pages, "page")}</span>
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
  </li>
)
