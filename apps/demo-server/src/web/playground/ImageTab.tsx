/** Generates images from a text. */
import { signal } from "@preact/signals"
import type { ImageRequest, ImageResponse } from "@sluice/core/contract"
import { createImages, getImages } from "../api/gateway.ts"
import { makeCall } from "../page/calls.ts"
import { persisted } from "../page/persisted.ts"
import { imageSnippet } from "../snippets/calls.ts"
import { NewTabLink } from "../ui/Button.tsx"
import { ChoiceField, TextField } from "../ui/Fields.tsx"
import { modelDetails, modelOf, type Tab } from "./Tab.tsx"
import { ImageField, type ImageFile } from "./ImageField.tsx"
import { followTask, scrollIntoView, statusText } from "./tasks.ts"

const SIZES = ["auto", "256x256", "512x512", "1280x720", "1K", "2K", "4K"]

const prompt = persisted("image.prompt", "A canal lock at dawn, seen from the towpath")
const size = persisted("image.size", "auto")
const count = persisted("image.count", "1")

const reference = signal<ImageFile>()

const details = modelDetails("image")

/** Models of this group take a text only. */
const takesImage = (): boolean => details.value?.group !== "I2"

/** The reference image, unless it was chosen for another model. */
const usedReference = (): ImageFile | undefined => (takesImage() ? reference.value : undefined)

interface Generation {
  /** Such as `in_progress`, for models that work in tasks. */
  readonly status: string
  /** URLs for `img`. */
  readonly sources: ReadonlyArray<string>
}

const generation = makeCall<Generation>("The image is ready.")

const requestBody = (): ImageRequest => {
  const image = usedReference()?.dataUri
  return {
    model: modelOf("image"),
    prompt: prompt.value,
    ...(size.value !== "auto" && { size: size.value }),
    ...(count.value !== "1" && { n: Number(count.value) }),
    ...(image !== undefined && { image })
  }
}

/** The file type, by its first bytes in Base64. */
const typeOf = (base64: string): string =>
  base64.startsWith("/9j/") ? "jpeg" : base64.startsWith("UklGR") ? "webp" : "png"

/** A link to this server may use another name for it than this page: localhost, 127.0.0.1. */
const onThisHost = (url: string): string => {
  const { pathname } = new URL(url, location.href)
  return pathname.startsWith("/files/") ? pathname : url
}

const generationOf = ({ data, status }: ImageResponse): Generation => ({
  status: status ?? "completed",
  sources: (data ?? []).flatMap(({ b64_json, base64_json, url }) => {
    const base64 = b64_json ?? base64_json
    if (base64) return [`data:image/${typeOf(base64)};base64,${base64}`]
    return url ? [onThisHost(url)] : []
  })
})

const generate = (): Promise<void> =>
  generation.run(async (signal, onProgress) => {
    const first = await createImages(requestBody(), signal)
    const { id } = first
    if (!id) return generationOf(first)
    const show = (task: ImageResponse) => onProgress({ ...generationOf(task), sources: [] })
    return generationOf(await followTask(first, () => getImages(id, signal), show, signal))
  })

/** This page loads nothing from other origins: such an image is linked. */
const isLocal = (url: string): boolean =>
  url.startsWith("data:") || new URL(url, location.href).origin === location.origin

const Picture = ({ at, source }: { at: number; source: string }) =>
  isLocal(source) ? (
    <li>
      <img src={source} alt={prompt.value} />
      <a href={source} download={`image-${at + 1}`}>
        Download
      </a>
    </li>
  ) : (
    <li>
      <NewTabLink href={source}>Open image {at + 1} at the gateway</NewTabLink>
    </li>
  )

const Progress = ({ status }: { status: string }) => (
  <div class="stack card frame" ref={scrollIntoView} aria-live="polite">
    <div class="loading-bar" />
    <p class="quiet">{statusText(status)}</p>
  </div>
)

const Result = () => {
  const { state, value } = generation.now.value
  const sources = value?.sources ?? []
  if (state === "working") return <Progress status={value?.status ?? "sending"} />
  if (sources.length === 0) return null
  return (
    <ul class="columns gallery" data-count={sources.length}>
      {sources.map((source, at) => (
        <Picture key={source} at={at} source={source} />
      ))}
    </ul>
  )
}

export const imageTab: Tab = {
  name: "Image",
  lead: "Generate an image from a text.",
  call: generation,
  action: "Generate",
  submit: generate,
  snippet: () => {
    const { image: _, ...sent } = requestBody()
    const picture = usedReference()?.name
    return imageSnippet(location.origin, { ...sent, group: details.value?.group, picture })
  },
  Fields: () => (
    <>
      <TextField label="Prompt" enterSends text={prompt} />
      <div class="columns">
        <ChoiceField label="Size" choice={size} values={SIZES} />
        <ChoiceField label="Images" choice={count} values={["1", "2", "3", "4"]} />
      </div>
      {takesImage() && <ImageField label="Reference image (optional)" image={reference} />}
    </>
  ),
  Result
}
