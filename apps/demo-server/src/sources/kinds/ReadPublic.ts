/** Reads a resource of the network into memory, within limits: each host and each redirect is checked. */
import { Effect } from "effect"
import { type FileFault, type FileRequest, openPublicFile } from "../../network/PublicFile.ts"
import { SourceFault } from "./SourceKind.ts"

const TIMEOUT = "60 seconds"

interface PublicResource {
  readonly bytes: Buffer
  readonly type: string
}

export const readPublic = (url: string, { maxBytes, ...of }: FileRequest & { readonly maxBytes: number }) =>
  openPublicFile(url, of).pipe(
    Effect.flatMap((response) =>
      Effect.tryPromise({
        try: async (signal): Promise<PublicResource> => {
          signal.addEventListener("abort", () => response.destroy())
          const chunks: Array<Buffer> = []
          let size = 0
          for await (const chunk of response as AsyncIterable<Buffer>) {
            size += chunk.length
            if (size > maxBytes) {
              response.destroy()
              throw new Error(`it has more than ${maxBytes} bytes`)
            }
            chunks.push(chunk)
          }
          return { bytes: Buffer.concat(chunks), type: response.headers["content-type"] ?? "" }
        },
        catch: (cause): FileFault => ({
          message: `The ${of.what} could not be read: ${cause instanceof Error ? cause.message : String(cause)}`
        })
      })
    ),
    Effect.timeoutOrElse({
      duration: TIMEOUT,
      orElse: () => Effect.fail<FileFault>({ message: `The ${of.what} took more than ${TIMEOUT}` })
    }),
    Effect.mapError(({ message, status }) => new SourceFault({ message, status }))
  )
