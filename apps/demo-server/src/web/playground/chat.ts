/** A conversation with a chat model, streamed. */
import { computed, signal } from "@preact/signals"
import { chat, type ChatMessage, type Said } from "../api/gateway.ts"
import { makeCall } from "../page/runningCall.ts"
import { kept } from "../page/persisted.ts"
import { modelOf } from "./chosenModel.ts"

/** What it is told beforehand: how to answer, or the text to answer from. */
export const instructions = kept(
  "chat.instructions",
  "The lock is 32 metres long. Seventeen oak planks close the north gate. They are changed when they have lost a fifth of their thickness."
)

/** What is being written. */
export const draft = kept("chat.draft", "How many planks close the north gate?")

/** What was said, without the answer that is coming. */
export const conversation = signal<ReadonlyArray<ChatMessage>>([])

export const answering = makeCall<Said>("The answer is there.")

/** What is sent with a message. */
const messagesWith = (said: ReadonlyArray<ChatMessage>): ReadonlyArray<ChatMessage> => {
  const system = instructions.value.trim()
  return [...(system === "" ? [] : [{ role: "system", content: system } as const]), ...said]
}

/** The call that the next message would make; without one, the last that was made. */
export const nextMessages = computed(() => {
  const text = draft.value.trim()
  return messagesWith(
    text === "" ? conversation.value : [...conversation.value, { role: "user", content: text }]
  )
})

export const send = async (): Promise<void> => {
  const text = draft.value.trim()
  if (text === "") return
  const before = [...conversation.value, { role: "user", content: text } as const]
  conversation.value = before
  draft.value = ""
  await answering.run((signal, show) => chat(modelOf("chat"), messagesWith(before), signal, show))
  const { state, value } = answering.now.value
  if (conversation.value !== before) return
  if (value !== undefined && value.text !== "" && (state === "done" || state === "idle")) {
    conversation.value = [...before, { role: "assistant", content: value.text }]
  } else if (state === "failed") {
    // Nothing is lost of what was written.
    conversation.value = before.slice(0, -1)
    if (draft.value === "") draft.value = text
  }
}

export const startAgain = (): void => {
  answering.clear()
  conversation.value = []
}
