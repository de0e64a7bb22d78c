/** Two texts, their vectors, and how alike they are. */
import { embedSnippet } from "../snippets/text.ts"
import { counted } from "../ui/counted.ts"
import { compare, comparison, texts, type Compared } from "./embed.ts"
import { modelOf } from "./chosenModel.ts"
import { TextField } from "../ui/Fields.tsx"
import { ModelField } from "./ModelField.tsx"
import { Try } from "./CallForm.tsx"
import { VectorStrip } from "./VectorStrip.tsx"

const Result = ({ cosine, tokens, vectors: [first, second] }: Compared) => (
  <figure class="compared">
    <p class="figure">
      <span class="amount">{cosine === undefined ? "–" : cosine.toFixed(3)}</span>
      <span class="quiet">
        {cosine === undefined
          ? "One of the texts has no word that the model knows."
          : "cosine: 1 is the same direction, 0 has nothing in common"}
      </span>
    </p>
    <VectorStrip vector={first} label="First text" />
    <VectorStrip vector={second} label="Second text" />
    <figcaption class="quiet">
      {counted(first.length, "number")} each{tokens === undefined ? "" : `, ${counted(tokens, "token")}`}
    </figcaption>
  </figure>
)

export const EmbedTry = () => {
  const [first, second] = texts.value
  const now = comparison.now.value
  return (
    <Try
      capability="embed"
      now={now}
      action="Compare"
      onSubmit={compare}
      onStop={comparison.stop}
      snippet={embedSnippet(location.origin, { model: modelOf("embed"), input: texts.value })}
      fields={
        <>
          <ModelField capability="embed" />
          <div class="pair">
            <TextField
              label="First text"
              rows={3}
              value={first}
              onValue={(text) => (texts.value = [text, texts.value[1]])}
            />
            <TextField
              label="Second text"
              rows={3}
              value={second}
              onValue={(text) => (texts.value = [texts.value[0], text])}
            />
          </div>
        </>
      }
    >
      {now.value !== undefined && <Result {...now.value} />}
    </Try>
  )
}
