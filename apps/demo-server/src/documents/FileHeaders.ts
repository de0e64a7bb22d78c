/** Headers of a document's original file, so that no script in it runs on this origin. */
import type { DocumentInfo } from "@sluice/rag"
import type { DocumentFormat } from "@sluice/rag/formats"

/** No other origin can embed the response, and no browser guesses its type. */
export const OWN_ORIGIN = {
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin"
}

/** The fallback name for `filename=`: ASCII, without quotes and backslashes. `filename*` has the real name. */
const ascii = (name: string): string => name.replaceAll(/[^\x20-\x7e]|["\\]/g, "_")

const encoded = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`
  )

/**
 * Content type by format, inline, sandboxed.
 *
 * PDFs are not sandboxed: browsers' PDF viewers do not work in a sandbox, and run no script on this origin.
 */
export const fileHeaders = (
  { format, path }: Pick<DocumentInfo, "format" | "path">,
  formats: ReadonlyArray<DocumentFormat>
): Record<string, string> => {
  const name = path.slice(path.lastIndexOf("/") + 1)
  return {
    "content-type": formats.find(({ id }) => id === format)?.mediaTypes[0] ?? "application/octet-stream",
    "content-disposition": `inline; filename="${ascii(name)}"; filename*=UTF-8''${encoded(name)}`,
    ...OWN_ORIGIN,
    "content-security-policy":
      format === "pdf"
        ? "default-src 'none'; frame-ancestors 'self'"
        : "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
  }
}
