/** Fetches images by URL for a caller: from public addresses only, with limited size and time. */
import { InvalidRequest } from "@sluice/core"
import { MAX_IMAGE_BYTES } from "@sluice/core/contract"
import { FILE_ADVICE, readImage } from "@sluice/core/media"
import { Context, Effect, Layer } from "effect"
import {
  type AddressPolicy,
  type FileFault,
  readPublicFile,
  ServerAddressPolicy
} from "../network/PublicFile.ts"
import { invalidImageUrl, makeFileLinks } from "./FileLinks.ts"

/** Characters of a URL in a request at most. */
const MAX_URL = 2_048

/** Fetches the bytes behind a URL, without checking that they are an image. `origin`: where the caller called this server. */
export class FetchImage extends Context.Service<
  FetchImage,
  (url: string, origin: string) => Effect.Effect<Uint8Array, InvalidRequest>
>()("@sluice/demo-server/FetchImage") {
  /** From the public internet, or from the data folder for this server's own links. */
  static readonly layer = Layer.effect(
    FetchImage,
    Effect.gen(function* () {
      const readOwn = yield* makeFileLinks
      const fetchPublic = fetchImageWithin(yield* ServerAddressPolicy)
      return Effect.fnUntraced(function* (url, origin) {
        return (yield* readOwn(url, origin)) ?? (yield* fetchPublic(url))
      })
    })
  )
}

const invalid = ({ isInvalid, message }: FileFault) =>
  invalidImageUrl(message, isInvalid === true ? "" : undefined)

export const fetchImageWithin = (policy: AddressPolicy) => (url: string) =>
  readPublicFile(url, {
    what: "image",
    accept: "image/png, image/jpeg, image/webp",
    policy,
    maxUrl: MAX_URL,
    maxBytes: MAX_IMAGE_BYTES,
    seconds: 10
  }).pipe(Effect.mapBoth({ onFailure: invalid, onSuccess: ({ bytes }): Uint8Array => bytes }))

/**
 * Loads an image of a request: a URL, a data URI or Base64, but never a file of this machine.
 *
 * `origin`: where the caller called this server. `param`: the field that errors name.
 */
export const loadReference = (
  fetchImage: FetchImage["Service"],
  given: string,
  param: string,
  origin: string
) =>
  Effect.gen(function* () {
    const { image } = yield* readImage<string | Uint8Array>(
      /^https?:/i.test(given) ? yield* fetchImage(given, origin) : given
    )
    if (image === undefined) return yield* new InvalidRequest({ message: "The image could not be read" })
    return image
  }).pipe(
    Effect.mapError(
      ({ code, message }) =>
        new InvalidRequest({ message: message.replace(` ${FILE_ADVICE}`, ""), code, param })
    )
  )
