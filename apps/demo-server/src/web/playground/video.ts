/** Video generation: a task that is created, followed and shown. */
import { VIDEO_GROUPS, type VideoRequest } from "@sluice/core/contract"
import { computed, effect, signal, untracked } from "@preact/signals"
import { createVideo, deleteVideo, downloadVideo, getVideo, type VideoTask } from "../api/gateway.ts"
import { toRequestError } from "../api/RequestError.ts"
import { makeCall, type CallWork } from "../page/calls.ts"
import { persisted } from "../page/persisted.ts"
import { playgroundHref, replaceAddress, route } from "../page/route.ts"
import { session } from "../page/session.ts"
import { announce } from "../ui/announce.ts"
import { modelDetails, modelOf } from "./chosenModel.ts"
import type { ImageFile } from "./ImageField.tsx"
import { pollTask } from "./pollTask.ts"

export const videoPrompt = persisted("video.prompt", "Boats wait in a lock at dawn while the water rises")
export const firstImage = signal<ImageFile | undefined>(undefined)

export const videoModel = modelDetails("video")

/** An empty text leaves the choice to the model. */
interface VideoOptions {
  readonly seconds: ReadonlyArray<string>
  readonly size: ReadonlyArray<string>
}

/** The interface names no values for other groups: the model accepts or refuses these. */
const OTHER_GROUPS: VideoOptions = {
  seconds: ["", "2", "4", "5", "8", "10"],
  size: ["", "240P", "480P", "720P", "1080P"]
}

/** This group takes any number of lines from 480 to 1080. */
const COMMON_LINES = ["480P", "720P", "1080P"]

export const videoOptions = computed((): VideoOptions => {
  const known = Object.entries(VIDEO_GROUPS).find(([name]) => name === videoModel.value?.group)
  if (known === undefined) return OTHER_GROUPS
  const [name, { seconds, size }] = known
  return { seconds, size: name === "V-E" ? COMMON_LINES : size }
})

export const needsFirstImage = computed(() => videoModel.value?.group === "image-to-video")

const wanted = persisted<{ readonly seconds?: string; readonly size?: string }>("video.wanted", {})

/** The chosen duration and size; a value that the model does not take is replaced by its first one. */
export const chosenOptions = computed(() => {
  const choose = (values: ReadonlyArray<string>, value = ""): string =>
    values.includes(value) ? value : (values[0] ?? "")
  const { seconds, size } = videoOptions.value
  return { seconds: choose(seconds, wanted.value.seconds), size: choose(size, wanted.value.size) }
})

export const chooseOption = (change: { readonly seconds?: string; readonly size?: string }): void => {
  wanted.value = { ...wanted.value, ...change }
}

interface VideoState {
  readonly id: string
  readonly status: string
  /** 0 to 100, if the gateway reports it. */
  readonly percent?: number
  /** The complete video. */
  readonly url?: string
}

export const videoCall = makeCall<VideoState>("The video is ready.")

const stateOf = ({ id, progress, status }: VideoTask): VideoState => {
  const percent = typeof progress === "string" ? Number.parseFloat(progress) : progress
  return {
    id,
    status: status ?? "in_progress",
    ...(percent !== undefined && percent >= 0 && percent <= 100 && { percent })
  }
}

export const videoRequest = (): VideoRequest => {
  const { seconds, size } = chosenOptions.value
  return {
    model: modelOf("video"),
    prompt: videoPrompt.value,
    ...(seconds !== "" && { seconds }),
    ...(size !== "" && { size }),
    ...(firstImage.value !== undefined && { input_reference: firstImage.value.dataUri })
  }
}

const addressOf = (task?: string): string => playgroundHref("video", task === undefined ? {} : { task })

/** Follows a task, then downloads the video. */
const follow = async (
  first: VideoTask,
  signal: AbortSignal,
  onProgress: (state: VideoState) => void
): Promise<VideoState> => {
  const show = (task: VideoTask) => onProgress(stateOf(task))
  const task = await pollTask(first, ({ id }) => getVideo(id, signal), show, signal)
  onProgress({ ...stateOf(task), percent: 100 })
  return { ...stateOf(task), url: URL.createObjectURL(await downloadVideo(task.id, signal)) }
}

const run = (work: CallWork<VideoState>): Promise<void> => {
  const { url } = videoCall.now.value.value ?? {}
  if (url !== undefined) URL.revokeObjectURL(url)
  return videoCall.run(work)
}

export const generateVideo = (): Promise<void> =>
  run(async (signal, onProgress) => {
    const task = await createVideo(videoRequest(), signal)
    // The address names the task: a reloaded page continues with it.
    if (location.hash.startsWith(addressOf())) replaceAddress(addressOf(task.id))
    return follow(task, signal, onProgress)
  })

const resume = (id: string): Promise<void> =>
  run(async (signal, onProgress) => follow(await getVideo(id, signal), signal, onProgress))

/** Cancels the task, or deletes the video. */
export const removeVideo = async (): Promise<void> => {
  const id = videoCall.now.value.value?.id
  if (id === undefined) return videoCall.clear()
  try {
    videoCall.stop()
    await deleteVideo(id)
    videoCall.clear()
    replaceAddress(addressOf())
    announce("The video was deleted.")
  } catch (thrown) {
    void videoCall.run(() => Promise.reject(toRequestError(thrown)))
  }
}

effect(() => {
  const now = route.value
  if (session.value !== "open" || now.view !== "playground" || now.task === undefined) return
  const { task } = now
  untracked(() => {
    const { state, value } = videoCall.now.value
    if (state === "idle" || (state !== "working" && value?.id !== task)) void resume(task)
  })
})
