/** An image from a text. */
import { imageSnippet } from "../snippets/media.ts"
import { aboutModel } from "./chosenModel.ts"
import { draw, drawing, form, imageRequest, reference, startsFrom, takesPicture } from "./image.ts"
import { SelectField, TextField } from "../ui/Fields.tsx"
import { ModelField } from "./ModelField.tsx"
import { PictureField } from "./PictureField.tsx"
import { Try } from "./CallForm.tsx"
import { useIntoView } from "./useIntoView.ts"

const SIZES = ["auto", "256x256", "512x512", "1280x720", "1K", "2K", "4K"]
const COUNTS = ["1", "2", "3", "4"]

/** Nothing else of another origin is loaded by this page: such an image is linked to. */
const isOurs = (url: string): boolean =>
  url.startsWith("data:") || new URL(url, location.href).origin === location.origin

const Shown = ({ at, source }: { readonly at: number; readonly source: string }) =>
  isOurs(source) ? (
    <li>
      <img src={source} alt={form.value.prompt} />
      <a href={source} download={`image-${at + 1}`}>
        Download
      </a>
    </li>
  ) : (
    <li>
      <a href={source} target="_blank" rel="noreferrer">
        Open image {at + 1} where the gateway keeps it
      </a>
    </li>
  )

const Progress = ({ status }: { readonly status: string }) => {
  const frame = useIntoView<HTMLDivElement>()
  return (
    <div class="frame" ref={frame} aria-live="polite">
      <div class="flowing" />
      <p class="quiet">{status.replaceAll("_", " ")}</p>
    </div>
  )
}

const Result = () => {
  const { state, value } = drawing.now.value
  const sources = value?.sources ?? []
  if (state === "working") return <Progress status={value?.status ?? "asking"} />
  if (sources.length === 0) return null
  return (
    <ul class="gallery" data-count={sources.length}>
      {sources.map((source, at) => (
        <Shown key={source} at={at} source={source} />
      ))}
    </ul>
  )
}

const about = aboutModel("image")

export const ImageTry = () => {
  const { n, prompt, size } = form.value
  const group = about.value?.group
  const { model, ...sent } = imageRequest()
  return (
    <Try
      capability="image"
      now={drawing.now.value}
      action="Generate"
      onSubmit={draw}
      onStop={drawing.stop}
      snippet={imageSnippet(location.origin, {
        model,
        group,
        prompt,
        picture: startsFrom()?.name,
        size: sent.size,
        n: sent.n
      })}
      fields={
        <>
          <ModelField capability="image" />
          <TextField
            label="Prompt"
            enterSends
            value={prompt}
            onValue={(prompt) => (form.value = { ...form.value, prompt })}
          />
          <div class="pair">
            <SelectField
              label="Size"
              value={size}
              values={SIZES}
              onValue={(size) => (form.value = { ...form.value, size })}
            />
            <SelectField
              label="Images"
              value={String(n)}
              values={COUNTS}
              onValue={(n) => (form.value = { ...form.value, n: Number(n) })}
            />
          </div>
          {takesPicture() && <PictureField label="Starting from (optional)" picture={reference} />}
        </>
      }
    >
      <Result />
    </Try>
  )
}
