/** OpenAI's images. A request with reference images is an edit, which takes a form. */
import { Effect } from "effect"
import type { ImageBytes, InterfaceRequest, OperationDialect } from "../protocol/Dialect.ts"
import { referenceImages } from "./MediaRequest.ts"
import { present } from "../protocol/JsonValues.ts"

const isEdit = (asked: InterfaceRequest): boolean => referenceImages(asked).length > 0

const formOf = (asked: InterfaceRequest, images: ReadonlyArray<ImageBytes>): FormData => {
  const form = new FormData()
  for (const [name, value] of Object.entries(present(asked))) {
    if (name !== "image") form.append(name, typeof value === "string" ? value : JSON.stringify(value))
  }
  for (const [at, { bytes, mediaType }] of images.entries()) {
    const file = new Blob([new Uint8Array(bytes)], { type: mediaType })
    form.append("image[]", file, `image-${at}.${mediaType.slice("image/".length)}`)
  }
  return form
}

export const openaiImages: OperationDialect = {
  path: (asked) => (isEdit(asked) ? "/v1/images/edits" : "/v1/images/generations"),
  request: (asked, { image }) =>
    isEdit(asked)
      ? Effect.map(Effect.forEach(referenceImages(asked), image), (images) => formOf(asked, images))
      : asked
}
