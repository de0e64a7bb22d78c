/** A question about a picture. */
import { signal } from "@preact/signals"
import { chat, type ChatMessage, type Said } from "../api/gateway.ts"
import { makeCall } from "../page/runningCall.ts"
import { kept } from "../page/persisted.ts"
import { modelOf } from "./chosenModel.ts"
import type { Picture } from "./picture.ts"

export const DETAILS = ["auto", "low", "high"] as const
export type Detail = (typeof DETAILS)[number]

export const question = kept("look.question", "What is in the picture?")
export const detail = kept<Detail>("look.detail", "auto")
export const picture = signal<Picture | undefined>(undefined)

export const looking = makeCall<Said>("The answer is there.")

/** The message as it is sent. */
const messageOf = ({ dataUri }: Picture): ChatMessage => ({
  role: "user",
  content: [
    { type: "text", text: question.value },
    { type: "image_url", image_url: { url: dataUri, detail: detail.value } }
  ]
})

export const look = async (): Promise<void> => {
  const shown = picture.value
  if (shown === undefined) return
  await looking.run((signal, show) => chat(modelOf("look"), [messageOf(shown)], signal, show))
}
