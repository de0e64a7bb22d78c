/** Reads image sources, and data URIs. */
import { Effect, FileSystem, Result } from "effect"
import { MAX_IMAGE_BYTES } from "../contract/ImageLimits.ts"
import type { ImageSource, LocalFile } from "../contract/ImageModels.ts"
import { InvalidRequest } from "../contract/GatewayError.ts"
import { base64ByteLength, decodeBase64, encodeBase64 } from "../contract/Base64.ts"
import { type LoadedImage, loadImage, mediaTypeOf } from "./ImageFormat.ts"

/** The two parts of a Base64 data URI. */
interface DataUri {
  /** In lower case, such as `image/png`. Default: `text/plain` (RFC 2397). */
  readonly mediaType: string
  /** Not yet checked. */
  readonly base64: string
}

const HEAD = /^data:([^,;]*)((?:;[^,;]*)*),/i
/** The longest head that is read, in characters. */
const HEAD_LENGTH = 256

/** True if a text starts with `data:`. `parseDataUri` checks the rest. */
export const isDataUri = (text: string): boolean => /^data:/i.test(text)

/** The parts of a data URI in Base64, or `undefined`. */
export const parseDataUri = (text: string): DataUri | undefined => {
  const [head, mediaType = "", parameters = ""] = HEAD.exec(text.slice(0, HEAD_LENGTH)) ?? []
  if (head === undefined || !/;base64$/i.test(parameters)) return undefined
  const type = mediaType.toLowerCase() || "text/plain"
  // Many callers write `image/jpg`, which is not a registered type.
  return { mediaType: type === "image/jpg" ? "image/jpeg" : type, base64: text.slice(head.length) }
}

/** Bytes as a data URI in Base64. */
export const makeDataUri = (mediaType: string, bytes: Uint8Array): string =>
  `data:${mediaType};base64,${encodeBase64(bytes)}`

/** An image in the forms that requests use. */
interface EncodedImage {
  /** For `image` and `input_reference`: the given URL, data URI or Base64; a data URI for bytes and files. */
  readonly wire: string
  /** For `image_url` of a chat message: a URL or a data URI, never bare Base64. */
  readonly url: string
  /** Absent for a URL, which is not fetched. */
  readonly image?: LoadedImage
}

/** The services that reading a source needs: `FileSystem`, only for a file. */
export type RequiredServices<S extends ImageSource> =
  Extract<S, LocalFile> extends never ? never : FileSystem.FileSystem

const refuse = (message: string) => new InvalidRequest({ message, code: "invalid_image" })

/** Advice for programs. HTTP callers cannot pass a path, so the server removes it. */
export const FILE_ADVICE = "Pass a file's path as { file: path }."

const tooLarge = (what: string, bytes: number) =>
  refuse(`${what} has ${(bytes / 1024 / 1024).toFixed(2)} MB. The limit is 20 MB.`)

const load = (bytes: Uint8Array, what: string): Effect.Effect<LoadedImage, InvalidRequest> =>
  bytes.length > MAX_IMAGE_BYTES
    ? tooLarge(what, bytes.length)
    : Effect.fromResult(Result.mapError(loadImage(bytes, what), refuse))

const ofBytes = (bytes: Uint8Array, what = "The image"): Effect.Effect<EncodedImage, InvalidRequest> =>
  Effect.map(load(bytes, what), (image) => {
    const wire = makeDataUri(mediaTypeOf(image.format), bytes)
    return { wire, url: wire, image }
  })

const ofBase64 = (base64: string, what: string) => {
  const length = base64ByteLength(base64)
  if (length > MAX_IMAGE_BYTES) return tooLarge(what, length)
  const bytes = decodeBase64(base64)
  return bytes === undefined
    ? refuse(`${what} is not Base64 of the standard alphabet, padded, without line breaks. ${FILE_ADVICE}`)
    : load(bytes, what)
}

const ofDataUri = (uri: string): Effect.Effect<EncodedImage, InvalidRequest> => {
  const parts = parseDataUri(uri)
  if (parts === undefined) return refuse("The data URI is not of the form data:image/png;base64,…")
  return Effect.flatMap(ofBase64(parts.base64, "The image of the data URI"), (image) => {
    const mediaType = mediaTypeOf(image.format)
    if (parts.mediaType !== mediaType) {
      return refuse(
        `The data URI declares ${parts.mediaType}, but its bytes are ${mediaType}. Correct the media type.`
      )
    }
    const url = `data:${mediaType};base64,${parts.base64}`
    return Effect.succeed({ wire: url, url, image })
  })
}

const ofText = (text: string): Effect.Effect<EncodedImage, InvalidRequest> => {
  if (isDataUri(text)) return ofDataUri(text)
  if (/^https?:\/\//i.test(text)) {
    return URL.canParse(text)
      ? Effect.succeed({ wire: text, url: text })
      : refuse("The image's URL is not a valid http or https address.")
  }
  if (/^[a-z][a-z0-9+.-]*:/i.test(text)) {
    return refuse(`The image's URL is neither http, nor https, nor a data URI. ${FILE_ADVICE}`)
  }
  return Effect.map(ofBase64(text, "The image"), (image) => ({
    wire: text,
    url: `data:${mediaTypeOf(image.format)};base64,${text}`,
    image
  }))
}

const ofFile = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const cannot = () =>
    refuse(`The image ${path} cannot be read: the file does not exist, or access is denied.`)
  const { size, type } = yield* Effect.mapError(files.stat(path), cannot)
  if (type !== "File") return yield* refuse(`The image ${path} is not a file.`)
  // Checked before reading, which loads the whole file.
  if (size > BigInt(MAX_IMAGE_BYTES)) return yield* tooLarge(`The image ${path}`, Number(size))
  const bytes = yield* Effect.mapError(files.readFile(path), cannot)
  return yield* ofBytes(bytes, `The image ${path}`)
})

/**
 * Reads and checks an image source.
 *
 * **Details.** Fails with `InvalidRequest` for another format (named in the message), more than 20 MB, invalid Base64, a
 * truncated header, a data URI whose media type does not match its bytes, and an unreadable file. Only files need a
 * `FileSystem`.
 */
export const readImage = <const S extends ImageSource>(
  source: S
): Effect.Effect<EncodedImage, InvalidRequest, RequiredServices<S>> => read(source) as never

const read = (source: ImageSource): Effect.Effect<EncodedImage, InvalidRequest, FileSystem.FileSystem> => {
  if (typeof source === "string") return ofText(source)
  if (source instanceof URL) return ofText(source.href)
  if (source instanceof Uint8Array) return Effect.suspend(() => ofBytes(source))
  return ofFile(source.file)
}
