/** The body of a request, looked at without taking it: whoever handles the request after all finds it whole. */
import { isUtf8 } from "node:buffer"
import type { IncomingMessage } from "node:http"

/** What became of it: a text, bytes that are none, or a caller who went away before its end. */
export type Body = { readonly text: string } | "no text" | "gone"

export const wholeBody = (request: IncomingMessage, length: number, hear: (body: Body) => void): void => {
  const chunks: Array<Buffer> = []
  let size = 0
  const tell = (body: Body) => {
    request.off("readable", look)
    request.off("close", gone)
    hear(body)
  }
  const gone = () => tell("gone")
  const look = () => {
    for (
      let chunk = request.read() as Buffer | null;
      chunk !== null;
      chunk = request.read() as Buffer | null
    ) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= length) break
    }
    if (size < length) return
    const [first = Buffer.alloc(0)] = chunks
    const bytes = chunks.length > 1 ? Buffer.concat(chunks) : first
    // Before the end is told, so that it is not: the body is there again.
    request.unshift(bytes)
    tell(isUtf8(bytes) ? { text: bytes.toString() } : "no text")
  }
  request.on("readable", look)
  request.once("close", gone)
}
