/** A conversation with a chat model. */
import { computed, signal } from "@preact/signals"
import type { ChatMessage } from "@sluice/core/contract"
import { type PartialAnswer, streamChat } from "../api/gateway.ts"
import { makeCall } from "../page/calls.ts"
import { persisted } from "../page/persisted.ts"
import { chatSnippet } from "../snippets/calls.ts"
import { LinkButton } from "../ui/Button.tsx"
import { TextField } from "../ui/Fields.tsx"
import { modelOf, type Tab } from "./Tab.tsx"

type Turn = ChatMessage & { readonly role: "user" | "assistant"; readonly content: string }

const INSTRUCTIONS_HINT = "How to answer, or a text to answer from."

/** The system message. */
const instructions = persisted(
  "chat.instructions",
  "The lock is 32 metres long. Seventeen oak planks close the north gate. They are changed when they have lost a fifth of their thickness."
)

const draft = persisted("chat.draft", "How many planks close the north gate?")

const conversation = signal<ReadonlyArray<Turn>>([])

const answer = makeCall<PartialAnswer>("The answer is complete.")

const withInstructions = (turns: ReadonlyArray<Turn>): ReadonlyArray<ChatMessage> => {
  const system = instructions.value.trim()
  return [...(system === "" ? [] : [{ role: "system", content: system } as const]), ...turns]
}

/** The messages of the next call; with an empty draft, of the last call. */
const nextMessages = computed(() => {
  const text = draft.value.trim()
  return withInstructions(
    text === "" ? conversation.value : [...conversation.value, { role: "user", content: text }]
  )
})

const send = async (): Promise<void> => {
  const text = draft.value.trim()
  if (text === "") return
  const before = [...conversation.value, { role: "user", content: text } as const]
  conversation.value = before
  draft.value = ""
  await answer.run((signal, onProgress) =>
    streamChat(modelOf("chat"), withInstructions(before), signal, onProgress)
  )
  const { state, value } = answer.now.value
  if (conversation.value !== before) return
  if (value !== undefined && value.text !== "" && (state === "done" || state === "idle")) {
    conversation.value = [...before, { role: "assistant", content: value.text }]
  } else if (state === "failed") {
    // The message goes back to its field.
    conversation.value = before.slice(0, -1)
    if (draft.value === "") draft.value = text
  }
}

const clear = (): void => {
  answer.clear()
  conversation.value = []
}

const Turns = () => {
  const { state, value } = answer.now.value
  const next: Turn = { role: "assistant", content: value?.text ?? "" }
  return (
    <div class="stack turns" role="log" aria-label="Conversation">
      {[...conversation.value, ...(state === "working" ? [next] : [])].map(({ content, role }, at) => (
        <div key={at} class="turn" data-role={role}>
          <span class="quiet">{role === "user" ? "You" : "Model"}</span>
          {content === "" ? <div class="loading-bar" /> : <p>{content}</p>}
        </div>
      ))}
    </div>
  )
}

export const chatTab: Tab = {
  name: "Chat",
  lead: "Chat with a model. Answers are streamed.",
  call: answer,
  action: "Send",
  submit: send,
  snippet: () => chatSnippet(location.origin, { model: modelOf("chat"), messages: nextMessages.value }),
  Fields: () => (
    <>
      <TextField label="Instructions" rows={3} optional hint={INSTRUCTIONS_HINT} text={instructions} />
      {conversation.value.length > 0 && <Turns />}
      <TextField label="Message" enterSends text={draft} />
    </>
  ),
  Result: () =>
    conversation.value.length === 0 ? null : <LinkButton onClick={clear}>New conversation</LinkButton>
}
