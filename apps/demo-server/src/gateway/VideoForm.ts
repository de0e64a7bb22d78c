/** What a video is asked for with, in JSON or as a form. */
import { VideoRequest } from "@sluice/core"
import { type FromParts, mediaForm } from "./MediaForm.ts"

/** Fields such as `input_reference[image_url]` make an object. */
const fromParts: FromParts = (parts) => {
  const fields = new Map<string, unknown>()
  const inside = new Map<string, string>()
  for (const [name, value] of parts) {
    const [, key] = /^input_reference\[(\w{1,40})\]$/.exec(name) ?? []
    if (key === undefined) fields.set(name, value)
    else inside.set(key, value)
  }
  if (inside.size > 0) fields.set("input_reference", Object.fromEntries(inside))
  return Object.fromEntries(fields)
}

/** The request, and its body as JSON for whoever passes it on. */
export const videoForm = mediaForm(VideoRequest, fromParts)
