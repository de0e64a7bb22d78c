/** A question about a picture. */
import { lookSnippet } from "../snippets/media.ts"
import { counted } from "../ui/counted.ts"
import { modelOf } from "./chosenModel.ts"
import { detail, DETAILS, look, looking, picture, question, type Detail } from "./look.ts"
import { SelectField, TextField } from "../ui/Fields.tsx"
import { ModelField } from "./ModelField.tsx"
import { PictureField } from "./PictureField.tsx"
import { Try } from "./CallForm.tsx"

const Result = () => {
  const { state, value } = looking.now.value
  if (state === "working" && (value === undefined || value.text === "")) return <div class="flowing" />
  if (value === undefined) return null
  const tokens = value.usage.total_tokens
  return (
    <figure class="seen">
      <p class="answer">{value.text}</p>
      {tokens !== undefined && <figcaption class="quiet">{counted(tokens, "token")}</figcaption>}
    </figure>
  )
}

export const LookTry = () => (
  <Try
    capability="look"
    now={looking.now.value}
    action="Ask"
    onSubmit={look}
    onStop={looking.stop}
    missing={picture.value === undefined ? "There is no picture yet." : undefined}
    snippet={lookSnippet(location.origin, {
      model: modelOf("look"),
      question: question.value,
      picture: picture.value?.name ?? "picture.png",
      detail: detail.value
    })}
    fields={
      <>
        <ModelField capability="look" />
        <PictureField label="Picture" picture={picture} />
        <TextField
          label="Question"
          rows={1}
          enterSends
          value={question.value}
          onValue={(text) => (question.value = text)}
        />
        <SelectField
          label="Detail"
          value={detail.value}
          values={DETAILS}
          onValue={(value) => (detail.value = value as Detail)}
        />
      </>
    }
  >
    <Result />
  </Try>
)
