/** A picture out of a file, as it travels in a request. */
import { Failure } from "../api/RequestError.ts"

export interface Picture {
  readonly name: string
  readonly dataUri: string
}

export const PICTURE_TYPES = ["image/png", "image/jpeg", "image/webp"]

/** The interface takes no more. */
const MAX_BYTES = 20 * 1024 * 1024

export const readPicture = async (file: File): Promise<Picture> => {
  if (file.size > MAX_BYTES) {
    const message = `${file.name} has more than 20 MB. Make it smaller, and choose it again.`
    throw new Failure(message, 0, "picture_size")
  }
  // What is called so, and is none, is found by drawing it.
  const isPicture =
    PICTURE_TYPES.includes(file.type) &&
    (await createImageBitmap(file).then(
      (drawn) => (drawn.close(), true),
      () => false
    ))
  if (!isPicture) {
    const message = `${file.name} is no PNG, JPEG or WEBP. Save it as one of these, and choose it again.`
    throw new Failure(message, 0, "picture_type")
  }
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener("load", () => resolve({ name: file.name, dataUri: String(reader.result) }))
    reader.addEventListener("error", () =>
      reject(new Failure(`${file.name} could not be read. Choose it again.`, 0, "picture_read"))
    )
    reader.readAsDataURL(file)
  })
}
