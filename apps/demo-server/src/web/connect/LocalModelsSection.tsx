/** Get local models: sets to download and use, and model servers that run on the server's machine. */
import type { LocalModels as Found } from "../../contract/LocalModels.ts"
import { Button, CopyButton } from "../ui/Button.tsx"
import { byteSize } from "../ui/format.ts"
import { ErrorMessage, Loading, MessageText, ProgressBar } from "../ui/Notices.tsx"
import { connections } from "./connect.ts"
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
      <p class="trouble" role="alert">
        The download failed. <MessageText text={message} />
      </p>
    )
  return (
    <div>
      <ProgressBar label={`Download of ${name}`} done={done} total={total} />
      <p class="quiet">{state === "running" ? amount : `Stopped at ${amount}. It continues from there.`}</p>
    </div>
  )
}

const SetActions = ({ of: { name, pulled }, now }: { readonly of: ModelSet; readonly now: Found }) => {
  const { download, missingRuntime, problem, used } = now
  const running = download?.state === "running" ? download.set : undefined
  if (running === name)
    return (
      <Button aria-label={`Stop the download of ${name}`} onClick={cancelDownload}>
        Stop
      </Button>
    )
  if (!pulled) {
    const broken = download?.set === name && (download.state === "cancelled" || download.state === "failed")
    const action = broken ? "Continue" : "Download"
    return (
      <Button
        disabled={running !== undefined}
        aria-label={`${action} ${name}`}
        onClick={() => downloadSet(name)}
      >
        {action}
      </Button>
    )
  }
  if (used === name)
    return (
      <Button aria-label={`Stop using ${name}`} onClick={() => switchTo(null)}>
        Stop using it
      </Button>
    )
  return (
    <Button
      disabled={missingRuntime !== undefined || problem !== undefined}
      aria-label={`Use ${name}`}
      onClick={() => switchTo(name)}
    >
      Use it
    </Button>
  )
}

const SetRow = ({ of: set, now }: { readonly of: ModelSet; readonly now: Found }) => {
  const { models, name, pulled } = set
  const bytes = models.reduce((sum, model) => sum + model.bytes, 0)
  const state = now.used === name ? "in use" : pulled ? "downloaded" : undefined
  return (
    <li>
      <p class="name">{name}</p>
      <p class="facts-line quiet">
        <span>{byteSize(bytes)}</span>
        {state !== undefined && <span>{state}</span>}
      </p>
      {models.map(({ bytes, id, kind, languages, licence, note }) => (
        <p key={id} class="quiet">
          <code>{id}</code>, {kind}: {byteSize(bytes)}, {licence}. Languages: {languages}.
          {note !== undefined && ` ${note}.`}
        </p>
      ))}
      <Progress of={set} now={now} />
      <div class="actions">
        <SetActions of={set} now={now} />
      </div>
    </li>
  )
}

const Servers = () => {
  const connected = new Set(connections.value?.connections.map(({ url }) => url))
  const others = localServers.value.filter(({ url }) => !connected.has(url))
  if (others.length === 0) return null
  return (
    <ul aria-label="Model servers on this machine">
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
            <p class="facts-line quiet">
              <span>{server.url}</span>
            </p>
            <div class="actions">
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
  return (
    <section class="keys-list" aria-labelledby="local-models-title">
      <h2 id="local-models-title">Get local models</h2>
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
        <ul aria-label="Sets of local models">
          {now.sets.map((set) => (
            <SetRow key={set.name} of={set} now={now} />
          ))}
        </ul>
      )}
      <Servers />
    </section>
  )
}
