/** Checks images in requests: URLs, data URIs or Base64, but never paths of files. */
import { type ChatRequest, Failure } from "@sluice/core/contract"
import { FILE_ADVICE, imageFormatOf, mediaTypeOf, readImage } from "@sluice/core/media"
import { InvalidRequest } from "@sluice/core"
import { Effect } from "effect"

const checkReadable = (image: string, param: string, which = ""): Effect.Effect<unknown, Failure> =>
  Effect.mapError(readImage<string>(image), ({ code, message }) =>
    Failure.fromReason(
      new InvalidRequest({ message: which + message.replace(` ${FILE_ADVICE}`, ""), code, param })
    )
  )

/** Rejects values that are not images. URLs are checked when they are fetched. */
export const checkImages = (given: ReadonlyArray<unknown>, param: string): Effect.Effect<void, Failure> =>
  Effect.forEach(
    given.filter((image) => typeof image === "string"),
    (image) => checkReadable(image, param),
    { discard: true }
  )

const HEAD = /^data:(image\/\w+);base64,/i
/** Characters of Base64 that suffice to identify the format. */
const SIGNATURE = 16

/** Whether the first bytes match the media type of a data URI; true for a URL. */
const matchesMediaType = (url: string): boolean => {
  const [head, declared] = HEAD.exec(url) ?? []
  if (head === undefined) return true
  const format = imageFormatOf(Buffer.from(url.slice(head.length, head.length + SIGNATURE), "base64"))
  return format !== undefined && mediaTypeOf(format) === declared?.toLowerCase()
}

/** Checks that the images of a chat match their media types. */
export const checkChatImages = ({ messages }: ChatRequest): Effect.Effect<void, Failure> => {
  const images = messages.flatMap(({ content }) =>
    typeof content === "object"
      ? content.flatMap((part) => (part.type === "text" ? [] : [part.image_url.url]))
      : []
  )
  const which = (at: number) => (images.length === 1 ? "" : `Image ${at + 1} of ${images.length}: `)
  return Effect.forEach(
    images,
    (url, at) => (matchesMediaType(url) ? Effect.void : checkReadable(url, "messages", which(at))),
    { discard: true }
  )
}
