/** How an original is served so that nothing in it runs on this origin. */
import type { DocumentInfo, Format } from "@sluice/rag"

const types: Record<Format, string> = {
  markdown: "text/markdown; charset=utf-8",
  html: "text/html; charset=utf-8",
  text: "text/plain; charset=utf-8",
  pdf: "application/pdf",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  // Which kind of image it is, the browser reads off the bytes.
  image: "application/octet-stream"
}

/** A name for `filename=`: ASCII, no quotes or backslashes; `filename*` carries the real one. */
const ascii = (name: string): string => name.replaceAll(/[^\x20-\x7e]|["\\]/g, "_")

const encoded = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`
  )

/**
 * Content type by format, inline, sandboxed.
 *
 * A browser's PDF viewer does not work in a sandbox and runs nothing on the document's origin: PDFs go without.
 */
export const fileHeaders = ({
  format,
  path
}: Pick<DocumentInfo, "format" | "path">): Record<string, string> => {
  const name = path.slice(path.lastIndexOf("/") + 1)
  return {
    "content-type": types[format],
    "content-disposition": `inline; filename="${ascii(name)}"; filename*=UTF-8''${encoded(name)}`,
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "content-security-policy":
      format === "pdf"
        ? "default-src 'none'; frame-ancestors 'self'"
        : "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
  }
}
