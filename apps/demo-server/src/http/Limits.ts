/** The size limit of request bodies by path, checked before and while a body is read. */
import { MAX_UPLOAD_BYTES } from "../contract/Documents.ts"

const KIBIBYTE = 1024
const MEBIBYTE = 1024 * KIBIBYTE

/** Bytes of a body under `/v1`: room for an image of 20 MB in Base64, or for 2,048 long texts. */
export const MAX_CALL_BYTES = 32 * MEBIBYTE

/** Bytes where a request may have several images of 20 MB. */
export const MAX_IMAGES_BYTES = 64 * MEBIBYTE

/** Bytes of a body under `/api`, and of a sign-in. */
export const MAX_ACCOUNT_BYTES = 64 * KIBIBYTE

/** Bytes of a message to `/mcp`. A session keeps its first one. */
const MAX_MCP_BYTES = 128 * KIBIBYTE

/** Bytes of any other JSON body. */
const MAX_JSON_BYTES = MEBIBYTE

const EXACT: Readonly<Record<string, number>> = {
  "/documents": MAX_UPLOAD_BYTES,
  "/v1/chat/completions": MAX_IMAGES_BYTES,
  "/v1/images/generations": MAX_IMAGES_BYTES,
  "/mcp": MAX_MCP_BYTES,
  "/session": MAX_ACCOUNT_BYTES
}

/** Normalises a path as the router does: case, repeated and trailing slashes, percent codes. */
const pathOf = (url: string): string => {
  const [path = ""] = url.split("?", 1)
  try {
    return decodeURIComponent(path).toLowerCase().replaceAll(/\/+/g, "/").replace(/\/$/, "")
  } catch {
    return path
  }
}

export const maxBodyBytes = (url: string): number => {
  const path = Object.hasOwn(EXACT, url) ? url : pathOf(url)
  const exact = Object.hasOwn(EXACT, path) ? EXACT[path] : undefined
  if (exact !== undefined) return exact
  if (path.startsWith("/v1/") || path.startsWith("/v2/")) return MAX_CALL_BYTES
  return path.startsWith("/api/") ? MAX_ACCOUNT_BYTES : MAX_JSON_BYTES
}
