/** A picture out of a file: chosen, dropped or pasted; shown small, and taken away again. */
import type { Signal } from "@preact/signals"
import { useId, useState } from "preact/hooks"
import { toFailure } from "../api/RequestError.ts"
import { PICTURE_TYPES, readPicture, type Picture } from "./picture.ts"

interface Props {
  readonly label: string
  readonly picture: Signal<Picture | undefined>
}

export const PictureField = ({ label, picture }: Props) => {
  const [problem, setProblem] = useState("")
  const [over, setOver] = useState(false)
  const id = useId()
  const now = picture.value
  const take = async (files: FileList | null | undefined) => {
    const file = files?.[0]
    if (file === undefined) return
    try {
      picture.value = await readPicture(file)
      setProblem("")
    } catch (thrown) {
      setProblem(toFailure(thrown).message)
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
        <legend class="unseen">{label}</legend>
        <div>
          {now !== undefined && <img src={now.dataUri} alt="" />}
          <label class="button">
            {now === undefined ? "Choose a picture" : "Another"}
            <input
              class="unseen"
              type="file"
              accept={PICTURE_TYPES.join(",")}
              aria-labelledby={id}
              onChange={(event) => {
                void take(event.currentTarget.files)
                event.currentTarget.value = "" // the same file may be chosen again
              }}
            />
          </label>
          {now === undefined ? (
            <span class="quiet">or drop one here: PNG, JPEG or WEBP</span>
          ) : (
            <>
              <span class="quiet name">{now.name}</span>
              <button
                class="icon"
                type="button"
                aria-label={`Take ${now.name} away`}
                title="Take away"
                onClick={() => (picture.value = undefined)}
              >
                ×
              </button>
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
