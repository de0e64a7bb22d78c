/** Images in requests: an address, a data URI or Base64, and never a file. */
import { type ChatRequest, Failure } from "@sluice/core/contract"
import { FILE_ADVICE, imageFormatOf, mediaTypeOf, readImage } from "@sluice/core/media"
import { InvalidRequest } from "@sluice/core"
import { Effect } from "effect"

const readable = (image: string, param: string, which = ""): Effect.Effect<unknown, Failure> =>
  Effect.mapError(readImage<string>(image), ({ code, message }) =>
    Failure.fromReason(
      new InvalidRequest({ message: which + message.replace(` ${FILE_ADVICE}`, ""), code, param })
    )
  )

/** Refuses values that are no image. Addresses are checked when they are fetched. */
export const checkImages = (given: ReadonlyArray<unknown>, param: string): Effect.Effect<void, Failure> =>
  Effect.forEach(
    given.filter((image) => typeof image === "string"),
    (image) => readable(image, param),
    { discard: true }
  )

const HEAD = /^data:(image\/\w+);base64,/i
/** Characters of Base64 that identify the format. */
const TELLING = 16

/** Whether the first bytes match the media type of a data URI; true for an address. */
const isWhatItSays = (url: string): boolean => {
  const [head, said] = HEAD.exec(url) ?? []
  if (head === undefined) return true
  const format = imageFormatOf(Buffer.from(url.slice(head.length, head.length + TELLING), "base64"))
  return format !== undefined && mediaTypeOf(format) === said?.toLowerCase()
}

/** Checks the first bytes of the images of a chat. */
export const checkChatImages = ({ messages }: ChatRequest): Effect.Effect<void, Failure> => {
  const images = messages.flatMap(({ content }) =>
    typeof content === "object"
      ? content.flatMap((part) => (part.type === "text" ? [] : [part.image_url.url]))
      : []
  )
  const which = (at: number) => (images.length === 1 ? "" : `Image ${at + 1} of ${images.length}: `)
  return Effect.forEach(
    images,
    (url, at) => (isWhatItSays(url) ? Effect.void : readable(url, "messages", which(at))),
    { discard: true }
  )
}
