/** SiliconFlow's images, and its videos as tasks whose status is requested by POST. */
import type { OperationDialect } from "../protocol/Dialect.ts"
import { failedState, idAt, imagesResponse, stateOf, urlsIn } from "./MediaResponse.ts"
import { firstFrame, linkOrDataUri, referenceImages, vendorFields } from "./MediaRequest.ts"
import { jsonAt } from "../text/Values.ts"

/** The interface's names of fields in errors. */
export const SILICONFLOW_NAMES = { image_size: "size", batch_size: "n" }

export const siliconflowImages: OperationDialect = {
  path: "/v1/images/generations",
  request: (asked) => {
    const [image, image2, image3] = referenceImages(asked).map(linkOrDataUri)
    return vendorFields(asked, {
      model: asked.model,
      prompt: asked["prompt"],
      image_size: asked["size"],
      batch_size: asked["n"],
      image,
      image2,
      image3
    })
  },
  response: (body) => imagesResponse(urlsIn(jsonAt(body, "images")).map((url) => ({ url })))
}

export const siliconflowVideos: OperationDialect = {
  path: "/v1/video/submit",
  request: (asked) => {
    const image = firstFrame(asked)
    return vendorFields(asked, {
      model: asked.model,
      prompt: asked["prompt"],
      image_size: asked["size"],
      image: image && linkOrDataUri(image)
    })
  },
  task: {
    reference: (body) => idAt(body, "requestId"),
    status: (requestId) => ({ method: "POST", path: "/v1/video/status", body: { requestId } }),
    state: (body) => {
      const status = stateOf(jsonAt(body, "status"))
      return status === "failed"
        ? failedState(jsonAt(body, "reason"))
        : { status, files: urlsIn(jsonAt(body, "results", "videos")) }
    }
  }
}
