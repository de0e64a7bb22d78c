/** Get local models: sets to download and use, and model servers that run on the server's machine. */
import type { LocalModels as Found } from "../../contract/LocalModels.ts"
import { useEffect, useRef } from "preact/hooks"
import { Button, CopyButton } from "../ui/Button.tsx"
import { byteSize } from "../ui/format.ts"
import { ErrorMessage, Loading, MessageText, ProgressBar } from "../ui/Notices.tsx"
import { currentRoute } from "../page/route.ts"
import { connections, connectionsError } from "./connect.ts"
import {
  cancelDownload,
  connectServer,
  downloadSet,
  localModelChanges,
  localModels,
  localModelsError,
  localServers,
  modelsToUse,
  switchTo
} from "./localModels.ts"

type ModelSet = Found["sets"][number]

const Progress = ({ of: { name }, now }: { readonly of: ModelSet; readonly now: Found }) => {
  const { download } = now
  if (download?.set !== name || download.state === "done") return null
  const { done, message, state, total } = download
  const amount = `${byteSize(done)} of ${byteSize(total)}`
  if (state === "failed")
    return (
      <p class="trouble own-line" role="alert">
        The download failed. <MessageText text={message} />
      </p>
    )
  return (
    <div class="own-line">
      <ProgressBar label={`Download of ${name}`} done={done} total={total} />
      <p class="quiet">{state === "running" ? amount : `Stopped at ${amount}. It continues from there.`}</p>
    </div>
  )
}

/** The button of a set. `label`: what it does, for screen readers, before the set's name. */
const actionOf = (
  { missingRuntime: own, name, pulled }: ModelSet,
  { download, missingRuntime, problem, used }: Found
) => {
  const running = download?.state === "running" ? download.set : undefined
  if (running === name) return { label: "Stop the download of", text: "Stop", onClick: cancelDownload }
  if (!pulled) {
    const isBroken = download?.set === name && (download.state === "cancelled" || download.state === "failed")
    const text = isBroken ? "Continue" : "Download"
    return { label: text, text, onClick: () => downloadSet(name), disabled: running !== undefined }
  }
  if (used === name) return { label: "Stop using", text: "Stop using it", onClick: () => switchTo(null) }
  const disabled = missingRuntime !== undefined || own !== undefined || problem !== undefined
  return { label: "Use", text: "Use it", onClick: () => switchTo(name), disabled }
}

const SetRow = ({ of: set, now }: { readonly of: ModelSet; readonly now: Found }) => {
  const { memoryShortage, missingRuntime, models, name, pulled } = set
  const bytes = models.reduce((sum, model) => sum + model.bytes, 0)
  const { label, text, ...button } = actionOf(set, now)
  const state = now.used === name ? "in use" : pulled ? "downloaded" : undefined
  return (
    <li>
      <p class="name">{name}</p>
      <p class="row quiet facts-line">
        <span>{byteSize(bytes)}</span>
        {state !== undefined && <span>{state}</span>}
      </p>
      {models.map(({ bytes, id, kind, languages, licence, note }) => (
        <p key={id} class="quiet own-line">
          <code>{id}</code>, {kind}: {byteSize(bytes)}, {licence}. Languages: {languages}.
          {note !== undefined && ` ${note}.`}
        </p>
      ))}
      {memoryShortage !== undefined && (
        <p class="trouble own-line">
          Its chat model may not run here. <MessageText text={memoryShortage} />
        </p>
      )}
      {missingRuntime !== undefined && (
        <p class="own-line">
          Its chat model needs another package: <code>{missingRuntime}</code>{" "}
          <CopyButton text={missingRuntime} what="the command" />
        </p>
      )}
      <Progress of={set} now={now} />
      <div class="row actions">
        <Button aria-label={`${label} ${name}`} {...button}>
          {text}
        </Button>
      </div>
    </li>
  )
}

const Servers = () => {
  const connected = new Set(connections.value?.connections.map(({ url }) => url))
  const others = localServers.value.filter(({ url }) => !connected.has(url))
  if (others.length === 0) return null
  return (
    <ul class="lines closed" aria-label="Model servers on this machine">
      {others.map((server) => {
        const { chat, embedding } = modelsToUse(server)
        const uses = [
          embedding !== undefined && `${embedding} for search`,
          chat !== undefined && `${chat} for answers`
        ].filter(Boolean)
        return (
          <li key={server.url}>
            <p class="name">
              {server.name} is running with {uses.join(" and ") || "no models"}.
            </p>
            <p class="row quiet facts-line">
              <span>{server.url}</span>
            </p>
            <div class="row actions">
              {uses.length > 0 && (
                <Button aria-label={`Use ${server.name}`} onClick={() => connectServer(server)}>
                  Use it?
                </Button>
              )}
            </div>
          </li>
        )
      })}
    </ul>
  )
}

export const LocalModelsSection = () => {
  const now = localModels.value
  const runtime = now?.missingRuntime
  const route = currentRoute.value
  const heading = useRef<HTMLHeadingElement>(null)
  // The sections above it have their height once they are loaded.
  const isAboveLoaded = connections.value !== undefined || connectionsError.value !== undefined
  useEffect(() => {
    if (route.view === "connect" && route.section === "local") heading.current?.scrollIntoView()
  }, [route, isAboveLoaded, now !== undefined])
  return (
    <section class="stack loose keys-list" aria-labelledby="local-models-title">
      <h2 id="local-models-title" ref={heading}>
        Get local models
      </h2>
      <p class="quiet">
        They match meaning, run on the server’s machine, and need no key. Nothing is downloaded until you ask.
        Another model for search needs a rebuild of the documents.
      </p>
      <ErrorMessage error={localModelsError.value ?? localModelChanges.error.value} />
      <Loading until={now !== undefined || localModelsError.value !== undefined} />
      {runtime !== undefined && (
        <p>
          The server lacks their runtime, 474 MB. Install it where the server is, then reload this page:{" "}
          <code>{runtime}</code> <CopyButton text={runtime} what="the command" />
        </p>
      )}
      {now !== undefined && (
        <ul class="lines closed" aria-label="Sets of local models">
          {now.sets.map((set) => (
            <SetRow key={set.name} of={set} now={now} />
          ))}
        </ul>
      )}
      <Servers />
    </section>
  )
}
