/** Where an image comes from, and what of it goes on the wire. */
import { Effect, FileSystem, Result } from "effect"
import { MAX_IMAGE_BYTES } from "../contract/Chat.ts"
import type { ImageSource, LocalFile } from "../contract/ImageModels.ts"
import { InvalidRequest } from "../contract/GatewayError.ts"
import { base64Bytes, decodeBase64 } from "../contract/Base64.ts"
import { isDataUri, makeDataUri, parseDataUri } from "./DataUri.ts"
import { type LoadedImage, loadImage, mediaTypeOf } from "./ImageFormat.ts"

/** An image as it can be sent. */
export interface ImageToSend {
  /** As it was given: URL, data URI or Base64. Bytes and files as a data URI. For `image` and `input_reference`. */
  readonly wire: string
  /** A URL or a data URI, never bare Base64: for `image_url` of a chat message. */
  readonly url: string
  /** Absent for a URL: nobody has looked at that image. */
  readonly image?: LoadedImage
}

/** What reading a source needs: a file system, for a file alone. */
export type Needed<S extends ImageSource> =
  Extract<S, LocalFile> extends never ? never : FileSystem.FileSystem

const refuse = (message: string) => new InvalidRequest({ message, code: "invalid_image" })

/** What whoever calls from a program may do, and who calls over HTTP may not. */
export const FILE_ADVICE = "A file's path is given as { file: path }."

const tooLarge = (what: string, bytes: number) =>
  refuse(
    `${what} has ${(bytes / 1024 / 1024).toFixed(2)} MB; 20 MB is the most that is taken. Make it smaller.`
  )

const load = (bytes: Uint8Array, what: string): Result.Result<LoadedImage, InvalidRequest> =>
  bytes.length > MAX_IMAGE_BYTES
    ? Result.fail(tooLarge(what, bytes.length))
    : Result.mapError(loadImage(bytes, what), refuse)

const ofBytes = (bytes: Uint8Array, what = "The image"): Result.Result<ImageToSend, InvalidRequest> =>
  Result.map(load(bytes, what), (image) => {
    const wire = makeDataUri(mediaTypeOf(image.format), bytes)
    return { wire, url: wire, image }
  })

const ofBase64 = (base64: string, what: string) => {
  const length = base64Bytes(base64)
  if (length > MAX_IMAGE_BYTES) return Result.fail(tooLarge(what, length))
  const bytes = decodeBase64(base64)
  return bytes === undefined
    ? Result.fail(
        refuse(`${what} is not Base64 of the standard alphabet, padded, without line breaks. ${FILE_ADVICE}`)
      )
    : load(bytes, what)
}

const ofDataUri = (uri: string): Result.Result<ImageToSend, InvalidRequest> => {
  const what = "The image of the data URI"
  const parts = parseDataUri(uri)
  if (parts === undefined) {
    return Result.fail(refuse("The data URI is not of the form data:image/png;base64,…"))
  }
  return Result.flatMap(ofBase64(parts.base64, what), (image) => {
    const mediaType = mediaTypeOf(image.format)
    // `image/jpg` is what many call it, and no type.
    const said = parts.mediaType === "image/jpg" ? "image/jpeg" : parts.mediaType
    if (said !== mediaType) {
      return Result.fail(refuse(`The data URI says ${said}, its bytes are ${mediaType}. Correct its head.`))
    }
    const url = `data:${mediaType};base64,${parts.base64}`
    return Result.succeed({ wire: url, url, image })
  })
}

const ofText = (text: string): Result.Result<ImageToSend, InvalidRequest> => {
  if (isDataUri(text)) return ofDataUri(text)
  if (/^https?:\/\//i.test(text)) {
    return URL.canParse(text)
      ? Result.succeed({ wire: text, url: text })
      : Result.fail(refuse("The image's URL is not a valid http or https address."))
  }
  if (/^[a-z][a-z0-9+.-]*:/i.test(text)) {
    return Result.fail(refuse(`The image's URL is neither http, nor https, nor a data URI. ${FILE_ADVICE}`))
  }
  return Result.map(ofBase64(text, "The image"), (image) => ({
    wire: text,
    url: `data:${mediaTypeOf(image.format)};base64,${text}`,
    image
  }))
}

const ofFile = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const cannot = () => refuse(`The image ${path} cannot be read: no such file, or no right to read it.`)
  const { size, type } = yield* Effect.mapError(files.stat(path), cannot)
  if (type !== "File") return yield* refuse(`The image ${path} is not a file.`)
  // Before it is read: a file of any length would go to memory.
  if (size > BigInt(MAX_IMAGE_BYTES)) return yield* tooLarge(`The image ${path}`, Number(size))
  const bytes = yield* Effect.mapError(files.readFile(path), cannot)
  return yield* Effect.fromResult(ofBytes(bytes, `The image ${path}`))
})

/**
 * Reads a source and checks what it can see of it.
 *
 * **Details.** Fails with `InvalidRequest` that says what is wrong and what to do: a GIF or another format by its name,
 * more than 20 MB, text that is not Base64, a header that is cut off, a data URI that names another format than its
 * bytes have, a file that cannot be read. Files alone need a `FileSystem`.
 */
export const readImage = <const S extends ImageSource>(
  source: S
): Effect.Effect<ImageToSend, InvalidRequest, Needed<S>> => read(source) as never

const read = (source: ImageSource): Effect.Effect<ImageToSend, InvalidRequest, FileSystem.FileSystem> => {
  if (typeof source === "string") return Effect.fromResult(ofText(source))
  if (source instanceof URL) return Effect.fromResult(ofText(source.href))
  if (source instanceof Uint8Array) return Effect.suspend(() => Effect.fromResult(ofBytes(source)))
  return ofFile(source.file)
}
