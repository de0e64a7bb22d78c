/** A conversation. */
import { chatSnippet } from "../snippets/text.ts"
import { answering, conversation, draft, instructions, nextMessages, send, startAgain } from "./chat.ts"
import { modelOf } from "./chosenModel.ts"
import { TextField } from "../ui/Fields.tsx"
import { ModelField } from "./ModelField.tsx"
import { Try } from "./CallForm.tsx"

const NAMES = { user: "You", assistant: "Model", system: "Instructions" } as const

const Turns = () => {
  const { state, value } = answering.now.value
  return (
    <div class="turns" role="log" aria-label="Conversation">
      {conversation.value.map(({ content, role }, at) => (
        <div key={at} class="turn" data-role={role}>
          <span class="quiet">{NAMES[role]}</span>
          <p>{typeof content === "string" ? content : ""}</p>
        </div>
      ))}
      {state === "working" && (
        <div class="turn" data-role="assistant">
          <span class="quiet">{NAMES.assistant}</span>
          {value === undefined || value.text === "" ? <div class="flowing" /> : <p>{value.text}</p>}
        </div>
      )}
    </div>
  )
}

export const ChatTry = () => (
  <Try
    capability="chat"
    now={answering.now.value}
    action="Send"
    onSubmit={send}
    onStop={answering.stop}
    snippet={chatSnippet(location.origin, { model: modelOf("chat"), messages: nextMessages.value })}
    fields={
      <>
        <ModelField capability="chat" />
        <TextField
          label="Instructions"
          rows={3}
          optional
          hint="How to answer, or a text to answer from."
          value={instructions.value}
          onValue={(text) => (instructions.value = text)}
        />
        {conversation.value.length > 0 && <Turns />}
        <TextField
          label="Message"
          rows={2}
          enterSends
          value={draft.value}
          onValue={(text) => (draft.value = text)}
        />
      </>
    }
  >
    {conversation.value.length > 0 && (
      <button class="link" type="button" onClick={startAgain}>
        Start again
      </button>
    )}
  </Try>
)
