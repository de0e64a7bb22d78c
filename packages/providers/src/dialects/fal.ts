/** fal: images and videos of any application, over its queue. */
import { mediaOperation, type MediaValues } from "../media/MediaRequest.ts"
import { detailError, failedState, idAt, stateOf, textsAt } from "../media/MediaResponse.ts"
import type { Dialect, Fields, InterfaceRequest, VendorTaskState } from "../protocol/Dialect.ts"
import { jsonAt } from "../protocol/JsonValues.ts"

/** The path of a request in the queue: the application's, without what follows its name. */
const requestPath = (body: unknown, { model }: InterfaceRequest): string | undefined => {
  const given = URL.parse(idAt(body, "response_url") ?? "")?.pathname
  const id = idAt(body, "request_id")
  return given ?? (id && `/${model.split("/").slice(0, 2).join("/")}/requests/${id}`)
}

/** Where applications have their results. */
const RESULTS = ["images.url", "image.url", "video.url", "videos.url"]

/** The result of a request, or its status. */
const requestState = (body: unknown, path: string): VendorTaskState => {
  const files = RESULTS.flatMap((name) => textsAt(body, name))
  if (files.length > 0) return { status: "completed", files }
  const word = jsonAt(body, "status")
  if (word === undefined) return failedState("The application returned neither an image nor a video")
  const error = jsonAt(body, "error")
  if (typeof error === "string") return failedState(error, jsonAt(body, "error_type"))
  const status = stateOf(word)
  return status === "completed" ? { status: "in_progress", next: { path } } : { status }
}

/** Fields of most applications. A request may have any of an application's own. */
const queued = (fields: (values: MediaValues, asked: InterfaceRequest) => Fields) =>
  mediaOperation({
    path: ({ model }) => `/${model}`,
    fields: (values, asked) => ({ prompt: values.prompt, ...fields(values, asked) }),
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
    images: queued(({ height, images, n, ratio, resolution, width }) => ({
      image_size: width === undefined ? undefined : { width, height },
      aspect_ratio: width === undefined ? ratio : undefined,
      resolution: width === undefined ? resolution?.toUpperCase() : undefined,
      num_images: n,
      image_url: images?.length === 1 ? images[0] : undefined,
      image_urls: images?.length === 1 ? undefined : images
    })),
    videos: queued(({ frame, ratio, resolution }, { seconds }) => ({
      aspect_ratio: ratio,
      resolution,
      duration: seconds,
      image_url: frame
    }))
  },
  error: detailError,
  fieldNames: {
    aspect_ratio: "size",
    image_size: "size",
    resolution: "size",
    num_images: "n",
    duration: "seconds"
  }
} as const satisfies Dialect
