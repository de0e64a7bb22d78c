/** A film from a text, and how far it is. */
import { useState } from "preact/hooks"
import { videoSnippet } from "../snippets/media.ts"
import { aboutModel } from "./chosenModel.ts"
import {
  film,
  filming,
  firstImage,
  lengthAndSize,
  prompt,
  removeFilm,
  takes,
  videoRequest,
  want
} from "./video.ts"
import { Meter } from "../ui/Meter.tsx"
import { SelectField, TextField } from "../ui/Fields.tsx"
import { ModelField } from "./ModelField.tsx"
import { PictureField } from "./PictureField.tsx"
import { Try } from "./CallForm.tsx"
import { useIntoView } from "./useIntoView.ts"

/** Some browsers are built without the patents that H.264 needs. */
const CANNOT_PLAY = "This browser cannot play H.264. Download the film, or open this page in another browser."

const Player = ({ url }: { readonly url: string }) => {
  const [problem, setProblem] = useState("")
  return (
    <>
      <video
        src={url}
        controls
        playsInline
        loop
        aria-label="The film"
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
  const frame = useIntoView<HTMLDivElement>()
  return (
    <div class="frame" ref={frame}>
      <p class="status" aria-live="polite">
        {status.replaceAll("_", " ")}
      </p>
      <Meter label="The film" done={percent ?? 0} total={percent === undefined ? 0 : 100} />
      <p class="quiet">
        {percent === undefined ? "" : `${Math.round(percent)} %. `}
        The address of this page keeps the task: it can be closed and opened again.
      </p>
    </div>
  )
}

const Result = () => {
  const { state, value } = filming.now.value
  if (state === "idle") return null
  const { id, percent, status = "asking", url } = value ?? {}
  return (
    <figure class="film" data-status={state === "failed" ? "failed" : status}>
      {url !== undefined && <Player url={url} key={url} />}
      {url === undefined && state === "working" && <Progress percent={percent} status={status} />}
      {id !== undefined && (
        <figcaption>
          <code>{id}</code>
          {url !== undefined && (
            <a href={url} download={`${id}.mp4`}>
              Download
            </a>
          )}
          <button class="link" type="button" onClick={removeFilm}>
            {url === undefined && state === "working" ? "Cancel it" : "Delete it"}
          </button>
        </figcaption>
      )}
    </figure>
  )
}

const about = aboutModel("video")

const LEFT_TO_MODEL = "as the model has it"

export const VideoTry = () => {
  const { needsImage, seconds, size } = takes()
  const now = lengthAndSize()
  const { model, ...sent } = videoRequest()
  return (
    <Try
      capability="video"
      now={filming.now.value}
      action="Generate"
      onSubmit={film}
      onStop={filming.stop}
      missing={needsImage && firstImage.value === undefined ? "This model begins with an image." : undefined}
      snippet={videoSnippet(location.origin, {
        model,
        group: about.value?.group,
        prompt: prompt.value,
        picture: firstImage.value?.name ?? (needsImage ? "picture.png" : undefined),
        seconds: sent.seconds,
        size: sent.size
      })}
      fields={
        <>
          <ModelField capability="video" />
          <TextField
            label="Prompt"
            enterSends
            value={prompt.value}
            onValue={(text) => (prompt.value = text)}
          />
          <div class="pair">
            <SelectField
              label="Length"
              value={now.seconds}
              values={seconds}
              name={(value) => (value === "" ? LEFT_TO_MODEL : `${value} s`)}
              onValue={(seconds) => want({ seconds })}
            />
            <SelectField
              label="Size"
              value={now.size}
              values={size}
              name={(value) => (value === "" ? LEFT_TO_MODEL : value)}
              onValue={(size) => want({ size })}
            />
          </div>
          <PictureField label={needsImage ? "First image" : "First image (optional)"} picture={firstImage} />
        </>
      }
    >
      <Result />
    </Try>
  )
}
