/** How large a request's body may be, by path. */
import { MAX_UPLOAD_BYTES } from "../documents/Upload.ts"

const MEBIBYTE = 1024 * 1024

/** Bytes of a body under `/v1`: room for an image of 20 MB in base64, or for 2,048 long texts. */
export const MAX_CALL_BYTES = 32 * MEBIBYTE

/** Bytes of any other JSON body: a question, a login. */
export const MAX_JSON_BYTES = MEBIBYTE

export const maxBodyBytes = (url: string): number => {
  const path = url.split("?", 1)[0] ?? ""
  if (path === "/documents") return MAX_UPLOAD_BYTES
  return path.startsWith("/v1/") || path.startsWith("/v2/") ? MAX_CALL_BYTES : MAX_JSON_BYTES
}
