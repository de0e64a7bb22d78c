/** Images that a caller gives to start from: a URL, a data URI or Base64, and never a file of this machine. */
import { FILE_ADVICE, type LoadedImage, readImage } from "@sluice/core/media"
import { InvalidRequest } from "@sluice/core"
import { Effect } from "effect"
import type { FetchImage } from "../media/FetchImage.ts"

/** The image behind what was given to this server at `origin`; `param` is the field that refusals name. */
export const referenceImage = (
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
    Effect.mapError(({ code, message }) => {
      const said = message.replace(` ${FILE_ADVICE}`, "")
      return new InvalidRequest({ message: said, code, param })
    })
  )
