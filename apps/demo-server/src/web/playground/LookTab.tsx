/** Asks a question about an image. */
import { signal } from "@preact/signals"
import type { ChatMessage } from "@sluice/core/contract"
import { type PartialAnswer, streamChat } from "../api/gateway.ts"
import { makeCall } from "../page/calls.ts"
import { persisted } from "../page/persisted.ts"
import { lookSnippet } from "../snippets/calls.ts"
import { ChoiceField, TextField } from "../ui/Fields.tsx"
import { pluralize } from "../ui/format.ts"
import { modelOf, type Tab } from "./Tab.tsx"
import { ImageField, type ImageFile } from "./ImageField.tsx"

const DETAILS = ["auto", "low", "high"] as const

const question = persisted("look.question", "What is in the image?")
const detail = persisted<(typeof DETAILS)[number]>("look.detail", "auto")
const image = signal<ImageFile>()

const answer = makeCall<PartialAnswer>("The answer is complete.")

const messageOf = ({ dataUri }: ImageFile): ChatMessage => ({
  role: "user",
  content: [
    { type: "text", text: question.value },
    { type: "image_url", image_url: { url: dataUri, detail: detail.value } }
  ]
})

const look = async (): Promise<void> => {
  const shown = image.value
  if (shown === undefined) return
  await answer.run((signal, onProgress) =>
    streamChat(modelOf("look"), [messageOf(shown)], signal, onProgress)
  )
}

const Result = () => {
  const { state, value } = answer.now.value
  if (state === "working" && !value?.text) return <div class="loading-bar" />
  if (value === undefined) return null
  return (
    <figure class="stack vision-answer">
      <p class="answer">{value.text}</p>
      {value.usage?.total_tokens !== undefined && (
        <figcaption class="quiet">{pluralize(value.usage.total_tokens, "token")}</figcaption>
      )}
    </figure>
  )
}

export const lookTab: Tab = {
  name: "Vision",
  lead: "Ask a question about an image.",
  call: answer,
  action: "Ask",
  submit: look,
  missing: () => (image.value === undefined ? "Choose an image." : undefined),
  snippet: () => {
    const picture = image.value?.name ?? "picture.png"
    const call = { model: modelOf("look"), question: question.value, picture, detail: detail.value }
    return lookSnippet(location.origin, call)
  },
  Fields: () => (
    <>
      <ImageField label="Image" image={image} />
      <TextField label="Question" rows={1} enterSends text={question} />
      <ChoiceField label="Detail" choice={detail} values={DETAILS} />
    </>
  ),
  Result
}
