/** Generates a video from a text: a task that is created, followed and shown. */
import { computed, effect, type Signal, signal, untracked } from "@preact/signals"
import { VIDEO_GROUPS, type VideoRequest } from "@sluice/core/contract"
import { useState } from "preact/hooks"
import { createVideo, getVideo, VIDEOS, type VideoTask } from "../api/gateway.ts"
import { request, requestBlob, toRequestError } from "../api/request.ts"
import { type CallWork, makeCall } from "../page/calls.ts"
import { persisted } from "../page/persisted.ts"
import { playgroundHref, replaceAddress, currentRoute } from "../page/route.ts"
import { session } from "../page/session.ts"
import { videoSnippet } from "../snippets/calls.ts"
import { LinkButton } from "../ui/Button.tsx"
import { SelectField, TextField } from "../ui/Fields.tsx"
import { announce, ProgressBar } from "../ui/Notices.tsx"
import { modelDetails, modelOf, type Tab } from "./Tab.tsx"
import { ImageField, type ImageFile } from "./ImageField.tsx"
import { followTask, scrollIntoView, statusText } from "./tasks.ts"

const prompt = persisted("video.prompt", "Boats wait in a lock at dawn while the water rises")
const firstImage = signal<ImageFile>()

const details = modelDetails("video")

/** The values that the model takes. An empty text leaves the choice to the model. */
type VideoOptions = Record<"seconds" | "size", ReadonlyArray<string>>

/** The interface names no values for other groups: the model accepts or refuses these. */
const OTHER_GROUPS: VideoOptions = {
  seconds: ["", "2", "4", "5", "8", "10"],
  size: ["", "240P", "480P", "720P", "1080P"]
}

const GROUPS: Record<string, VideoOptions> = {
  ...VIDEO_GROUPS,
  // This group takes any number of lines from 480 to 1080.
  "V-E": { ...VIDEO_GROUPS["V-E"], size: ["480P", "720P", "1080P"] }
}

const options = computed(() => GROUPS[details.value?.group ?? ""] ?? OTHER_GROUPS)

const needsImage = computed(() => details.value?.group === "image-to-video")

const preferred: Record<keyof VideoOptions, Signal<string>> = {
  seconds: persisted("video.seconds", ""),
  size: persisted("video.size", "1280x720")
}

/** The chosen value; one that the model does not take is replaced by its first one. */
const chosen = (option: keyof VideoOptions): string => {
  const values = options.value[option]
  const { value } = preferred[option]
  return values.includes(value) ? value : (values[0] ?? "")
}

interface VideoState {
  readonly id: string
  readonly status: string
  /** 0 to 100, if the gateway reports it. */
  readonly percent?: number | undefined
  readonly url?: string
}

const generation = makeCall<VideoState>("The video is ready.")

const stateOf = ({ id, progress, status }: VideoTask): VideoState => {
  const percent = typeof progress === "string" ? Number.parseFloat(progress) : progress
  return {
    id,
    status: status ?? "in_progress",
    ...(percent !== undefined && percent >= 0 && percent <= 100 && { percent })
  }
}

const requestBody = (): VideoRequest => {
  const [seconds, size] = [chosen("seconds"), chosen("size")]
  return {
    model: modelOf("video"),
    prompt: prompt.value,
    ...(seconds && { seconds }),
    ...(size && { size }),
    ...(firstImage.value && { input_reference: firstImage.value.dataUri })
  }
}

const ADDRESS = playgroundHref("video")

const pathOf = (id: string): string => `${VIDEOS}/${encodeURIComponent(id)}`

/** Follows a task, then downloads the video. */
const follow = async (
  first: VideoTask,
  signal: AbortSignal,
  onProgress: (state: VideoState) => void
): Promise<VideoState> => {
  const show = (task: VideoTask) => onProgress(stateOf(task))
  const task = await followTask(first, ({ id }) => getVideo(id, signal), show, signal)
  onProgress({ ...stateOf(task), percent: 100 })
  const video = await requestBlob(`${pathOf(task.id)}/content`, signal)
  return { ...stateOf(task), url: URL.createObjectURL(video) }
}

const run = (work: CallWork<VideoState>): Promise<void> => {
  const { url } = generation.now.value.value ?? {}
  if (url !== undefined) URL.revokeObjectURL(url)
  return generation.run(work)
}

const generate = (): Promise<void> =>
  run(async (signal, onProgress) => {
    const task = await createVideo(requestBody(), signal)
    // The address names the task: a reloaded page continues with it.
    if (location.hash.startsWith(ADDRESS)) replaceAddress(playgroundHref("video", { task: task.id }))
    return follow(task, signal, onProgress)
  })

const resume = (id: string): Promise<void> =>
  run(async (signal, onProgress) => follow(await getVideo(id, signal), signal, onProgress))

/** Cancels the task, or deletes the video. */
const remove = async (): Promise<void> => {
  const id = generation.now.value.value?.id
  if (id === undefined) return generation.clear()
  try {
    generation.stop()
    await request("DELETE", pathOf(id))
    generation.clear()
    replaceAddress(ADDRESS)
    announce("The video was deleted.")
  } catch (thrown) {
    void generation.run(() => Promise.reject(toRequestError(thrown)))
  }
}

effect(() => {
  const now = currentRoute.value
  if (session.value !== "open" || now.view !== "playground" || now.task === undefined) return
  const { task } = now
  untracked(() => {
    const { state, value } = generation.now.value
    if (state === "idle" || (state !== "working" && value?.id !== task)) void resume(task)
  })
})

const Player = ({ url }: { url: string }) => {
  const [failed, setFailed] = useState(false)
  return (
    <>
      <video src={url} controls playsInline loop aria-label="The video" onError={() => setFailed(true)}>
        <track kind="captions" />
      </video>
      <p class="quiet" aria-live="polite">
        {/* Some browsers are built without H.264. */}
        {failed &&
          "This browser cannot play H.264. Download the video, or open this page in another browser."}
      </p>
    </>
  )
}

const Progress = ({ percent, status }: Pick<VideoState, "percent" | "status">) => (
  <div class="stack card frame" ref={scrollIntoView}>
    <p class="status" aria-live="polite">
      {statusText(status)}
    </p>
    <ProgressBar label="The video" done={percent ?? 0} total={percent === undefined ? 0 : 100} />
    <p class="quiet">
      {percent !== undefined && `${Math.round(percent)} %. `}
      You can close this page and come back to its address.
    </p>
  </div>
)

const Result = () => {
  const { state, value } = generation.now.value
  if (state === "idle") return null
  const { id, percent, status = "sending", url } = value ?? {}
  const isRunning = url === undefined && state === "working"
  return (
    <figure class="stack apart video-result" data-status={state === "failed" ? "failed" : status}>
      {url !== undefined && <Player url={url} key={url} />}
      {isRunning && <Progress percent={percent} status={status} />}
      {id !== undefined && (
        <figcaption class="row baseline breakable quiet">
          <code>{id}</code>
          {url !== undefined && (
            <a href={url} download={`${id}.mp4`}>
              Download
            </a>
          )}
          <LinkButton onClick={remove}>{isRunning ? "Cancel" : "Delete"}</LinkButton>
        </figcaption>
      )}
    </figure>
  )
}

type OptionProps = { readonly label: string; readonly option: keyof VideoOptions; readonly unit?: string }

const OptionField = ({ label, option, unit = "" }: OptionProps) => (
  <SelectField
    label={label}
    value={chosen(option)}
    values={
      new Map(options.value[option].map((value) => [value, value === "" ? "model default" : value + unit]))
    }
    onValue={(value) => (preferred[option].value = value)}
  />
)

const isImageMissing = (): boolean => needsImage.value && firstImage.value === undefined

export const videoTab: Tab = {
  name: "Video",
  lead: "Generate a video from a text. It takes a while; progress is shown.",
  call: generation,
  action: "Generate",
  submit: generate,
  missing: () => (isImageMissing() ? "This model needs a first image." : undefined),
  snippet: () => {
    const { input_reference: _, ...sent } = requestBody()
    const picture = isImageMissing() ? "picture.png" : firstImage.value?.name
    return videoSnippet(location.origin, { ...sent, group: details.value?.group, picture })
  },
  Fields: () => (
    <>
      <TextField label="Prompt" enterSends text={prompt} />
      <div class="columns">
        <OptionField label="Length" option="seconds" unit=" s" />
        <OptionField label="Size" option="size" />
      </div>
      <ImageField label={`First image${needsImage.value ? "" : " (optional)"}`} image={firstImage} />
    </>
  ),
  Result
}
