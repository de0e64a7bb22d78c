/** An image from a file: chosen, dropped or pasted. */
import { MAX_IMAGE_BYTES } from "@sluice/core/contract"
import type { Signal } from "@preact/signals"
import { useId, useState } from "preact/hooks"
import { IconButton } from "../ui/Button.tsx"

export interface ImageFile {
  readonly name: string
  readonly dataUri: string
}

const TYPES = ["image/png", "image/jpeg", "image/webp"]

const MAX_MEGABYTES = MAX_IMAGE_BYTES / 1024 / 1024

const dataUriOf = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener("load", () => resolve(String(reader.result)))
    reader.addEventListener("error", () => reject(reader.error ?? new Error("unreadable")))
    reader.readAsDataURL(file)
  })

/** The image, or why the file is not used. */
const readImage = async (file: File): Promise<ImageFile | string> => {
  const { name, size, type } = file
  const unreadable = `${name} is not a PNG, JPEG or WebP image that this browser can read.`
  if (size > MAX_IMAGE_BYTES) return `${name} is larger than ${MAX_MEGABYTES} MB. Choose a smaller image.`
  if (!TYPES.includes(type)) return unreadable
  try {
    // Decoding finds a file with a wrong type.
    const bitmap = await createImageBitmap(file)
    bitmap.close()
    return { name, dataUri: await dataUriOf(file) }
  } catch {
    return unreadable
  }
}

export const ImageField = ({ image, label }: { label: string; image: Signal<ImageFile | undefined> }) => {
  const [problem, setProblem] = useState("")
  const [over, setOver] = useState(false)
  const id = useId()
  const now = image.value
  const take = async (files: FileList | null | undefined) => {
    const file = files?.[0]
    if (file === undefined) return
    const result = await readImage(file)
    setProblem(typeof result === "string" ? result : "")
    if (typeof result !== "string") image.value = result
  }
  const onDrag = (event: DragEvent) => {
    event.preventDefault()
    setOver(event.type === "dragover")
    if (event.type === "drop") void take(event.dataTransfer?.files)
  }
  return (
    <div
      class="stack tight field picture"
      data-over={over}
      onDragOver={onDrag}
      onDragLeave={onDrag}
      onDrop={onDrag}
      onPaste={(event) => void take(event.clipboardData?.files)}
    >
      <span class="label" id={id} aria-hidden="true">
        {label}
      </span>
      <fieldset class="chosen">
        <legend class="visually-hidden">{label}</legend>
        <div class="row">
          {now !== undefined && <img src={now.dataUri} alt="" />}
          <label class="button">
            {now === undefined ? "Choose an image" : "Replace"}
            <input
              class="visually-hidden"
              type="file"
              accept={TYPES.join(",")}
              aria-labelledby={id}
              onChange={(event) => {
                void take(event.currentTarget.files)
                event.currentTarget.value = "" // The same file may be chosen again.
              }}
            />
          </label>
          <span class="quiet name">{now?.name ?? "or drop one here: PNG, JPEG or WebP"}</span>
          {now !== undefined && (
            <IconButton label={`Remove ${now.name}`} sign="×" onClick={() => (image.value = undefined)} />
          )}
        </div>
      </fieldset>
      <p class="problem" role="alert">
        {problem}
      </p>
    </div>
  )
}
