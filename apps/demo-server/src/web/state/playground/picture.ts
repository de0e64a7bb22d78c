/** A picture out of a file, as it travels in a request. */
import { Failure } from "../../api/Failure.ts"

export interface Picture {
  readonly name: string
  readonly dataUri: string
}

export const PICTURE_TYPES = ["image/png", "image/jpeg", "image/webp"]

/** The interface takes no more. */
const MAX_BYTES = 20 * 1024 * 1024

export const readPicture = (file: File): Promise<Picture> =>
  new Promise((resolve, reject) => {
    if (!PICTURE_TYPES.includes(file.type)) {
      const message = `${file.name} is no PNG, JPEG or WEBP. Save it as one of these, and choose it again.`
      return reject(new Failure(message, 0, "picture_type"))
    }
    if (file.size > MAX_BYTES) {
      const message = `${file.name} has more than 20 MB. Make it smaller, and choose it again.`
      return reject(new Failure(message, 0, "picture_size"))
    }
    const reader = new FileReader()
    reader.addEventListener("load", () => resolve({ name: file.name, dataUri: String(reader.result) }))
    reader.addEventListener("error", () =>
      reject(new Failure(`${file.name} could not be read. Choose it again.`, 0, "picture_read"))
    )
    return reader.readAsDataURL(file)
  })
