/** fal: images and videos of any application, over its queue. */
import { detailError, failedState, idAt, stateOf, urlsIn } from "../media/MediaResponse.ts"
import { firstFrame, linkOrDataUri, vendorFields, referenceImages, mediaSize } from "../media/MediaRequest.ts"
import type {
  Dialect,
  Fields,
  InterfaceRequest,
  OperationDialect,
  VendorTaskState
} from "../protocol/Dialect.ts"
import { jsonAt } from "../text/Values.ts"

const NAMES = {
  aspect_ratio: "size",
  image_size: "size",
  resolution: "size",
  num_images: "n",
  duration: "seconds"
}

/** The path of a request in the queue: the application's, without what follows its name. */
const requestPath = (body: unknown, { model }: InterfaceRequest): string | undefined => {
  const given = URL.parse(idAt(body, "response_url") ?? "")?.pathname
  const id = idAt(body, "request_id")
  return given ?? (id && `/${model.split("/").slice(0, 2).join("/")}/requests/${id}`)
}

/** The result of a request, or its status. */
const requestState = (body: unknown, path: string): VendorTaskState => {
  const files = [
    ...urlsIn(jsonAt(body, "images")),
    ...urlsIn([jsonAt(body, "image"), jsonAt(body, "video")]),
    ...urlsIn(jsonAt(body, "videos"))
  ]
  if (files.length > 0) return { status: "completed", files }
  const word = jsonAt(body, "status")
  if (word === undefined) return failedState("The application returned neither an image nor a video")
  const error = jsonAt(body, "error")
  if (typeof error === "string") return failedState(error, jsonAt(body, "error_type"))
  const status = stateOf(word)
  return status === "completed" ? { status: "in_progress", next: { path } } : { status }
}

/** Fields of most applications. A request may have any of an application's own. */
const queued = (more: (asked: InterfaceRequest) => Fields): OperationDialect => ({
  path: ({ model }) => `/${model}`,
  request: (asked) => vendorFields(asked, { prompt: asked["prompt"], ...more(asked) }),
  task: {
    reference: requestPath,
    status: (path) => ({ path: `${path}/status` }),
    state: requestState,
    // The application's own failure, or that of its runner after the queue's retries.
    isFailure: (body, status) => status === 500 || idAt(body, "error_type") !== undefined,
    remove: (path) => ({ method: "PUT", path: `${path}/cancel` })
  }
})

export const fal = {
  id: "fal",
  name: "fal",
  url: "https://queue.fal.run",
  keyVariable: "FAL_KEY",
  sign: (key) => ({ authorization: `Key ${key}` }),
  operations: {
    images: queued((asked) => {
      const { height, ratio, resolution, width } = mediaSize(asked)
      const images = referenceImages(asked).map(linkOrDataUri)
      return {
        image_size: width === undefined ? undefined : { width, height },
        aspect_ratio: width === undefined ? ratio : undefined,
        resolution: width === undefined ? resolution?.toUpperCase() : undefined,
        num_images: asked["n"],
        image_url: images.length === 1 ? images[0] : undefined,
        image_urls: images.length > 1 ? images : undefined
      }
    }),
    videos: queued((asked) => {
      const { ratio, resolution } = mediaSize(asked)
      const image = firstFrame(asked)
      return {
        aspect_ratio: ratio,
        resolution,
        duration: asked["seconds"],
        image_url: image && linkOrDataUri(image)
      }
    })
  },
  error: (body) => detailError(body, NAMES)
} as const satisfies Dialect
