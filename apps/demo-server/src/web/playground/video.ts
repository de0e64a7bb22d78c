/** A film from a text: made as a task, followed, shown. */
import { effect, signal, untracked } from "@preact/signals"
import { Failure, toFailure } from "../api/RequestError.ts"
import {
  createVideo,
  getVideo,
  removeVideo,
  type Video,
  videoFile,
  type VideoRequest
} from "../api/gateway.ts"
import { announce } from "../ui/announce.ts"
import { makeCall, type Work } from "../page/runningCall.ts"
import { kept } from "../page/persisted.ts"
import { keepAt, playgroundHref, route } from "../page/route.ts"
import { session } from "../page/session.ts"
import { aboutModel, modelOf } from "./chosenModel.ts"
import type { Picture } from "./picture.ts"
import { takesOf } from "./videoOptions.ts"
import { asBefore, reasonOf, waitFor } from "./pollTask.ts"

export const prompt = kept("video.prompt", "Boats wait in a lock at dawn while the water rises")
const wanted = kept<{ readonly seconds?: string; readonly size?: string }>("video.wanted", {})

/** The image that it begins with. */
export const firstImage = signal<Picture | undefined>(undefined)

const about = aboutModel("video")

/** What the model's group takes. */
export const takes = () => takesOf(about.value?.group)

const oneOf = (values: ReadonlyArray<string>, value: string | undefined): string =>
  value !== undefined && values.includes(value) ? value : (values[0] ?? "")

/** The duration and the size that are chosen: of another group, the first that it takes. */
export const lengthAndSize = () => {
  const { seconds, size } = takes()
  return { seconds: oneOf(seconds, wanted.value.seconds), size: oneOf(size, wanted.value.size) }
}

export const want = (change: { readonly seconds?: string; readonly size?: string }): void => {
  wanted.value = { ...wanted.value, ...change }
}

export interface Film {
  readonly id: string
  readonly status: string
  /** 0 to 100, where the gateway says. */
  readonly percent?: number
  /** Of the whole film, once it is there. */
  readonly url?: string
}

export const filming = makeCall<Film>("The video is there.")

const filmOf = ({ id, progress, status = "in_progress" }: Video): Film => {
  const percent = typeof progress === "string" ? Number.parseFloat(progress) : progress
  return { id, status, ...(percent !== undefined && percent >= 0 && percent <= 100 && { percent }) }
}

/** As it is sent; the snippets show the same. */
export const videoRequest = (): VideoRequest => {
  const { seconds, size } = lengthAndSize()
  return {
    model: modelOf("video"),
    prompt: prompt.value,
    ...(seconds !== "" && { seconds }),
    ...(size !== "" && { size }),
    ...(firstImage.value !== undefined && { input_reference: firstImage.value.dataUri })
  }
}

const addressOf = (task?: string): string => playgroundHref("video", task === undefined ? {} : { task })

/** Until it has ended, then its bytes. */
const follow = async (first: Video, signal: AbortSignal, show: (film: Film) => void): Promise<Film> => {
  let video = first
  for (let look = 0; video.status !== "completed"; look++) {
    if (video.status === "failed") throw new Failure(reasonOf(video.error), 0, "task_failed")
    show(filmOf(video))
    await waitFor(look, signal)
    video = await getVideo(video.id, signal).catch(asBefore(video))
  }
  show({ ...filmOf(video), percent: 100 })
  const film = await videoFile(video.id, signal)
  return { ...filmOf(video), url: URL.createObjectURL(film) }
}

const run = (work: Work<Film>): Promise<void> => {
  const { url } = filming.now.value.value ?? {}
  if (url !== undefined) URL.revokeObjectURL(url)
  return filming.run(work)
}

export const film = (): Promise<void> =>
  run(async (signal, show) => {
    const video = await createVideo(videoRequest(), signal)
    // The address carries the task: a page that is loaded again goes on with it.
    if (location.hash.startsWith(addressOf())) keepAt(addressOf(video.id))
    return follow(video, signal, show)
  })

const resume = (id: string): Promise<void> =>
  run(async (signal, show) => follow(await getVideo(id, signal), signal, show))

/** Ends it where it is under way; what was made is gone. */
export const removeFilm = async (): Promise<void> => {
  const id = filming.now.value.value?.id
  if (id === undefined) return filming.clear()
  try {
    filming.stop()
    await removeVideo(id)
    filming.clear()
    keepAt(addressOf())
    announce("The video was removed.")
  } catch (thrown) {
    void filming.run(() => Promise.reject(toFailure(thrown)))
  }
}

effect(() => {
  const now = route.value
  if (session.value !== "open" || now.view !== "playground" || now.task === undefined) return
  const { task } = now
  untracked(() => {
    const { state, value } = filming.now.value
    if (state === "idle" || (state !== "working" && value?.id !== task)) void resume(task)
  })
})
