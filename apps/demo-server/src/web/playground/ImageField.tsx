/** An image from a file: chosen, dropped or pasted. */
import type { Signal } from "@preact/signals"
import { useId, useState } from "preact/hooks"
import { RequestError, toRequestError } from "../api/request.ts"
import { IconButton } from "../ui/Button.tsx"

export interface ImageFile {
  readonly name: string
  readonly dataUri: string
}

const TYPES = ["image/png", "image/jpeg", "image/webp"]

/** `MAX_IMAGE_BYTES` of the contract, whose module would bring 108 kB of schemas with it. */
const MAX_MEGABYTES = 20

const readImage = async (file: File): Promise<ImageFile> => {
  if (file.size > MAX_MEGABYTES * 1024 * 1024)
    throw new RequestError(
      `${file.name} is larger than ${MAX_MEGABYTES} MB. Choose a smaller image.`,
      0,
      "size"
    )
  // A file with a wrong type is found by decoding it.
  const isImage =
    TYPES.includes(file.type) &&
    (await createImageBitmap(file).then(
      (bitmap) => (bitmap.close(), true),
      () => false
    ))
  if (!isImage) throw new RequestError(`${file.name} is not a PNG, JPEG or WebP image.`, 0, "type")
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener("load", () => resolve({ name: file.name, dataUri: String(reader.result) }))
    reader.addEventListener("error", () =>
      reject(new RequestError(`${file.name} could not be read. Choose it again.`, 0, "read"))
    )
    reader.readAsDataURL(file)
  })
}

export const ImageField = ({ image, label }: { label: string; image: Signal<ImageFile | undefined> }) => {
  const [problem, setProblem] = useState("")
  const [over, setOver] = useState(false)
  const id = useId()
  const now = image.value
  const take = async (files: FileList | null | undefined) => {
    const file = files?.[0]
    if (file === undefined) return
    try {
      image.value = await readImage(file)
      setProblem("")
    } catch (thrown) {
      setProblem(toRequestError(thrown).message)
    }
  }
  return (
    <div
      class="field picture"
      data-over={over}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        void take(event.dataTransfer?.files)
      }}
      onPaste={(event) => void take(event.clipboardData?.files)}
    >
      <span class="label" id={id} aria-hidden="true">
        {label}
      </span>
      <fieldset class="chosen">
        <legend class="visually-hidden">{label}</legend>
        <div>
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
          {now === undefined ? (
            <span class="quiet">or drop one here: PNG, JPEG or WebP</span>
          ) : (
            <>
              <span class="quiet name">{now.name}</span>
              <IconButton label={`Remove ${now.name}`} sign="×" onClick={() => (image.value = undefined)} />
            </>
          )}
        </div>
      </fieldset>
      <p class="problem" role="alert">
        {problem}
      </p>
    </div>
  )
}
