/** Loads a reference image of a request: a URL, a data URI or Base64, but never a file of this machine. */
import { FILE_ADVICE, type LoadedImage, readImage } from "@sluice/core/media"
import { InvalidRequest } from "@sluice/core"
import { Effect } from "effect"
import type { FetchImage } from "../media/FetchImage.ts"

/** `origin`: where the caller called this server. `param`: the field that errors name. */
export const loadReference = (
  fetchImage: FetchImage["Service"],
  given: string,
  param: string,
  origin: string
): Effect.Effect<LoadedImage, InvalidRequest> =>
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
