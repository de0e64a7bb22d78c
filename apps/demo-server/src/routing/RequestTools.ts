/** What dialects need to map requests and to fetch results. */
import { mediaTypeOf } from "@sluice/core/media"
import type { RequestTools } from "@sluice/providers"
import { Effect } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { Readable } from "node:stream"
import { fetchImageWithin, loadReference } from "../media/FetchImage.ts"
import { type AddressPolicy, type FileFault, openPublicFile } from "../network/PublicFile.ts"

/** Images are fetched from the public internet only. */
export const requestTools = (policy: AddressPolicy): RequestTools => ({
  image: (image) =>
    loadReference(fetchImageWithin(policy), image, "image", "").pipe(
      Effect.map(({ bytes, format }) => ({ bytes, mediaType: mediaTypeOf(format) })),
      Effect.mapError(({ code, message, param }) => ({ code, message, param }))
    )
})

/** Storage hosts send these for an expired link. */
const EXPIRED: ReadonlySet<number | undefined> = new Set([400, 401, 403, 404, 410])

const faultResponse = ({ message, status }: FileFault): Response =>
  EXPIRED.has(status)
    ? Response.json(
        { error: { message: "The video's link has expired. Links usually last 24 hours", code: "expired" } },
        { status: 410 }
      )
    : Response.json({ error: { message } }, { status: 502 })

/**
 * Fetches results of vendors from other hosts, without the key: from the public internet, or from the upstream's own
 * address.
 */
export const makeFileClient = (policy: AddressPolicy, upstreamUrl: string): HttpClient.HttpClient => {
  const of = {
    what: "video",
    accept: "video/mp4, video/*, application/octet-stream",
    policy,
    trustedOrigin: new URL(upstreamUrl).origin
  }
  return HttpClient.make((request, { href }) =>
    Effect.match(openPublicFile(href, of), {
      onFailure: (fault) => HttpClientResponse.fromWeb(request, faultResponse(fault)),
      onSuccess: ({ file }) => {
        const { "content-length": length, "content-type": type = "" } = file.headers
        const headers = { "content-type": type, ...(length !== undefined && { "content-length": length }) }
        return HttpClientResponse.fromWeb(
          request,
          new Response(Readable.toWeb(file) as ReadableStream, { headers })
        )
      }
    })
  )
}
