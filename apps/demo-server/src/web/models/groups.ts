/** What the interface says of each group of models, in a line. */
import type { ModelGroup } from "@sluice/core"

export const GROUP_NOTES: Record<ModelGroup, string> = {
  embeddings: "Texts to vectors",
  rerank: "Documents by relevance to a question",
  chat: "Messages to a text",
  I1: "From text and an image: how closely it is kept, moderation, output format",
  I2: "From text alone",
  I3: "From text, or an image to edit: watermark (on unless refused), seed",
  I4: "Several images in, several out, fifteen together: series, watermark, seed",
  I5: "At once or in two steps: aspect ratio, safety tolerance, seed, raw",
  I6: "From text and an image: erases, repaints, varies",
  "V-A": "4, 8 or 12 s, in pixels, upright or wide; tasks may be queued first",
  "V-B": "4, 6 or 8 s, 720p to 4k",
  "V-C": "4, 6 or 8 s, 720p or 1080p",
  "V-D": "2 to 15 s, 1280x720 or 1920x1080",
  "V-E": "5 or 10 s, 480P to 1080P",
  "V-F": "5 s, 480P or 1080P",
  "V-G": "5 or 10 s, by aspect ratio",
  "image-to-video": "Begins with an image"
}

export const groupNote = (group: string | undefined): string | undefined =>
  Object.entries(GROUP_NOTES).find(([name]) => name === group)?.[1]
