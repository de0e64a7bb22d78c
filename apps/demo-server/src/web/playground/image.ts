/** Images from a text, at once or in two steps. */
import { signal } from "@preact/signals"
import { Failure } from "../api/RequestError.ts"
import { createImages, getImages, type ImageAnswer, type ImageRequest } from "../api/gateway.ts"
import { makeCall } from "../page/runningCall.ts"
import { kept } from "../page/persisted.ts"
import { aboutModel, modelOf } from "./chosenModel.ts"
import type { Picture } from "./picture.ts"
import { asBefore, reasonOf, waitFor } from "./pollTask.ts"

export const form = kept("image", {
  prompt: "A canal lock at dawn, seen from the towpath",
  size: "auto",
  n: 1
})

/** What was chosen to start from. */
export const reference = signal<Picture | undefined>(undefined)

const about = aboutModel("image")

/** One group begins with a text alone. */
export const takesPicture = (): boolean => about.value?.group !== "I2"

/** What it starts from; what was chosen for another model may be nothing for this one. */
export const startsFrom = (): Picture | undefined => (takesPicture() ? reference.value : undefined)

export interface Drawn {
  /** `in_progress`, of a model that answers in two steps. */
  readonly status: string
  /** What an `img` can show. */
  readonly sources: ReadonlyArray<string>
}

export const drawing = makeCall<Drawn>("The image is there.")

/** As it is sent; the snippets show the same. */
export const imageRequest = (): ImageRequest => {
  const { n, prompt, size } = form.value
  const image = startsFrom()?.dataUri
  return {
    model: modelOf("image"),
    prompt,
    ...(size !== "auto" && { size }),
    ...(n > 1 && { n }),
    ...(image !== undefined && { image })
  }
}

/** Base64 of these bytes begins so. */
const typeOf = (base64: string): string =>
  base64.startsWith("/9j/") ? "jpeg" : base64.startsWith("UklGR") ? "webp" : "png"

/** Links of this server may name it otherwise than this page does: localhost, 127.0.0.1. */
const here = (url: string): string => {
  const { pathname } = new URL(url, location.href)
  return pathname.startsWith("/files/") ? pathname : url
}

const drawn = ({ data = [], status = "completed" }: ImageAnswer): Drawn => ({
  status,
  sources: data.flatMap(({ b64_json, base64_json, url }) => {
    const base64 = b64_json ?? base64_json
    if (base64 !== undefined) return [`data:image/${typeOf(base64)};base64,${base64}`]
    return url === undefined ? [] : [here(url)]
  })
})

export const draw = (): Promise<void> =>
  drawing.run(async (signal, show) => {
    let answer = await createImages(imageRequest(), signal)
    for (let look = 0; answer.id !== undefined && answer.status !== "completed"; look++) {
      if (answer.status === "failed") throw new Failure(reasonOf(answer.error), 0, "task_failed")
      show({ ...drawn(answer), sources: [] })
      await waitFor(look, signal)
      answer = await getImages(answer.id, signal).catch(asBefore(answer))
    }
    return drawn(answer)
  })
