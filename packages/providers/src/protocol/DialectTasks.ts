/** The tasks of vendors in the interface's form. */
import { parseJson } from "@sluice/core/client"
import { Schema } from "effect"
import type { Fields, OperationName, VendorTaskState } from "./Dialect.ts"

/** A task's id in the interface: the model and the vendor's reference, which a later request needs both. */
export const encodeTaskId = (model: string, reference: string): string =>
  Buffer.from(JSON.stringify([model, reference])).toString("base64url")

export interface TaskReference {
  readonly model: string
  /** As the dialect made it. */
  readonly reference: string
}

const isPair = Schema.is(Schema.Tuple([Schema.String, Schema.String]))

export const decodeTaskId = (id: string): TaskReference | undefined => {
  const pair = parseJson(Buffer.from(id, "base64url").toString())
  return isPair(pair) ? { model: pair[0], reference: pair[1] } : undefined
}

/** The response to a creation or a status request. */
export const stateResponse = (
  operation: OperationName,
  id: string,
  model: string,
  { error, files = [], progress, seconds, status }: VendorTaskState
): Fields => ({
  id,
  object: operation === "videos" ? "video" : "image.task",
  model,
  status,
  ...(progress !== undefined && { progress }),
  ...(seconds !== undefined && { seconds: String(seconds) }),
  ...(error !== undefined && { error }),
  ...(operation === "images" && status === "completed" && { data: files.map(imageOf) })
})

const DATA_URI = /^data:[^,]*;base64,/

/** A link, or the Base64 of a data URI. */
const imageOf = (file: string): Fields =>
  DATA_URI.test(file) ? { b64_json: file.replace(DATA_URI, "") } : { url: file }
