/** Page or text, the document's path, and the file itself. */
import type { DocumentText } from "../../contract/index.ts"
import { pathIn } from "../api/collectionPath.ts"

interface Props {
  readonly collection: string
  readonly text: DocumentText
  readonly asText: boolean
  readonly onAsText: (asText: boolean) => void
}

export const SourceTools = ({ asText, collection, onAsText, text: { document, pages } }: Props) => (
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
    <a href={pathIn(collection, `/documents/${document.id}/file`)} target="_blank" rel="noreferrer">
      Original file
    </a>
  </div>
)
