/** Generates a video from a text. */
import { useState } from "preact/hooks"
import { videoSnippet } from "../snippets/media.ts"
import { SelectField, TextField } from "../ui/Fields.tsx"
import { ProgressBar } from "../ui/Notices.tsx"
import { CallForm } from "./CallForm.tsx"
import { ImageField } from "./ImageField.tsx"
import { statusText, useScrollIntoView } from "./pollTask.ts"
import {
  chooseOption,
  chosenOptions,
  firstImage,
  generateVideo,
  needsFirstImage,
  removeVideo,
  videoCall,
  videoModel,
  videoOptions,
  videoPrompt,
  videoRequest
} from "./video.ts"

/** Some browsers are built without H.264. */
const CANNOT_PLAY =
  "This browser cannot play H.264. Download the video, or open this page in another browser."

const Player = ({ url }: { readonly url: string }) => {
  const [problem, setProblem] = useState("")
  return (
    <>
      <video
        src={url}
        controls
        playsInline
        loop
        aria-label="The video"
        onError={() => setProblem(CANNOT_PLAY)}
      >
        <track kind="captions" />
      </video>
      {problem !== "" && (
        <p class="quiet" aria-live="polite">
          {problem}
        </p>
      )}
    </>
  )
}

const Progress = ({ percent, status }: { readonly percent: number | undefined; readonly status: string }) => {
  const frame = useScrollIntoView<HTMLDivElement>()
  return (
    <div class="frame" ref={frame}>
      <p class="status" aria-live="polite">
        {statusText(status)}
      </p>
      <ProgressBar label="The video" done={percent ?? 0} total={percent === undefined ? 0 : 100} />
      <p class="quiet">
        {percent === undefined ? "" : `${Math.round(percent)} %. `}
        You can close this page and come back to its address.
      </p>
    </div>
  )
}

const Result = () => {
  const { state, value } = videoCall.now.value
  if (state === "idle") return null
  const { id, percent, status = "sending", url } = value ?? {}
  const isRunning = url === undefined && state === "working"
  return (
    <figure class="film" data-status={state === "failed" ? "failed" : status}>
      {url !== undefined && <Player url={url} key={url} />}
      {isRunning && <Progress percent={percent} status={status} />}
      {id !== undefined && (
        <figcaption>
          <code>{id}</code>
          {url !== undefined && (
            <a href={url} download={`${id}.mp4`}>
              Download
            </a>
          )}
          <button class="link" type="button" onClick={removeVideo}>
            {isRunning ? "Cancel" : "Delete"}
          </button>
        </figcaption>
      )}
    </figure>
  )
}

const MODEL_DEFAULT = "model default"

export const VideoTab = () => {
  const { seconds, size } = chosenOptions.value
  const needsImage = needsFirstImage.value
  const { model, ...sent } = videoRequest()
  return (
    <CallForm
      capability="video"
      now={videoCall.now.value}
      action="Generate"
      onSubmit={generateVideo}
      onStop={videoCall.stop}
      missing={needsImage && firstImage.value === undefined ? "This model needs a first image." : undefined}
      snippet={videoSnippet(location.origin, {
        model,
        group: videoModel.value?.group,
        prompt: videoPrompt.value,
        picture: firstImage.value?.name ?? (needsImage ? "picture.png" : undefined),
        seconds: sent.seconds,
        size: sent.size
      })}
      fields={
        <>
          <TextField
            label="Prompt"
            enterSends
            value={videoPrompt.value}
            onValue={(text) => (videoPrompt.value = text)}
          />
          <div class="pair">
            <SelectField
              label="Length"
              value={seconds}
              values={videoOptions.value.seconds}
              text={(value) => (value === "" ? MODEL_DEFAULT : `${value} s`)}
              onValue={(seconds) => chooseOption({ seconds })}
            />
            <SelectField
              label="Size"
              value={size}
              values={videoOptions.value.size}
              text={(value) => (value === "" ? MODEL_DEFAULT : value)}
              onValue={(size) => chooseOption({ size })}
            />
          </div>
          <ImageField label={needsImage ? "First image" : "First image (optional)"} image={firstImage} />
        </>
      }
    >
      <Result />
    </CallForm>
  )
}
