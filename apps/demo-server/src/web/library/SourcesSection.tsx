/** Sources of the chosen collection: add, state, what changed, what failed, read now, pause, remove. */
import { useState } from "preact/hooks"
import { COLLECTION_NAME } from "../../contract/Names.ts"
import type { SourceInfo } from "../../contract/Sources.ts"
import {
  addSource,
  cancelRun,
  changeSchedule,
  pauseSource,
  removeSource,
  runSource,
  sourceChanges,
  sources,
  sourcesError
} from "../documents/sources.ts"
import { ActionForm, Confirm } from "../ui/ActionForm.tsx"
import { LinkButton } from "../ui/Button.tsx"
import { InputField } from "../ui/Fields.tsx"
import { pluralize } from "../ui/format.ts"
import { ErrorMessage, ProgressBar } from "../ui/Notices.tsx"
import { FailedFiles } from "./FailedFiles.tsx"
import { describeSchedule, readSchedule, ScheduleFields } from "./ScheduleFields.tsx"

const NewSource = ({ onDone }: { readonly onDone: () => void }) => {
  const examples = sources.value?.kinds.map(({ example, label }) => `${label}: ${example}`).join(" · ")
  return (
    <ActionForm
      class="new-key"
      actions={["Add"]}
      send={(read) =>
        addSource({
          address: read("address"),
          name: read("name"),
          credential: read("credential"),
          schedule: readSchedule(read)
        })
      }
      onDone={onDone}
    >
      <InputField
        label="Address"
        hint={examples}
        name="address"
        required
        maxLength={2_000}
        spellcheck={false}
        placeholder="https://"
      />
      <ScheduleFields now={null} />
      <details>
        <summary>Name and credential (optional)</summary>
        <div class="columns">
          <InputField
            label="Name"
            hint="Paths of its documents begin with it. Empty: from the address."
            name="name"
            maxLength={64}
            pattern={COLLECTION_NAME.source}
            title="A letter or a digit, then letters, digits, dots, dashes or underscores"
            spellcheck={false}
          />
          <InputField
            label="Credential"
            hint="A token, user:password, or accessKeyId:secretAccessKey. It is not shown again."
            name="credential"
            type="password"
            autocomplete="off"
            maxLength={8_192}
          />
        </div>
      </details>
    </ActionForm>
  )
}

const STATES: Readonly<Record<SourceInfo["state"], string>> = {
  waiting: "waiting",
  running: "reading",
  done: "up to date",
  failed: "failed",
  paused: "paused",
  stopped: "stopped"
}

const time = (ms: number) =>
  new Date(ms).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })

/** `3 added, 1 removed, 40 unchanged`. */
const countsOf = ({ report }: SourceInfo): string =>
  report === undefined
    ? ""
    : (["added", "replaced", "removed", "unchanged"] as const)
        .filter((name) => report[name] > 0)
        .map((name) => `${report[name].toLocaleString()} ${name}`)
        .join(", ") || "no documents"

const Actions = ({ of, onSchedule }: { readonly of: SourceInfo; readonly onSchedule: () => void }) => {
  const { name, schedule, state } = of
  const isRunning = state === "running"
  const isHalted = state === "paused" || state === "stopped"
  return (
    <p class="row">
      <LinkButton
        aria-label={isRunning ? `Cancel the run of ${name}` : `Sync ${name} now`}
        onClick={() => (isRunning ? cancelRun(of) : runSource(of))}
      >
        {isRunning ? "Cancel" : "Sync now"}
      </LinkButton>
      {(isHalted || schedule !== undefined) && (
        <LinkButton
          aria-label={`${isHalted ? "Resume" : "Pause"} ${name}`}
          onClick={() => pauseSource(of, !isHalted)}
        >
          {isHalted ? "Resume" : "Pause"}
        </LinkButton>
      )}
      <LinkButton aria-label={`Change the schedule of ${name}`} onClick={onSchedule}>
        Schedule
      </LinkButton>
      <Confirm
        action="Remove"
        onConfirm={() => removeSource(of)}
        opener={{ kind: "link problem", "aria-label": `Remove the source ${name}`, children: "Remove" }}
      >
        Remove <b>{name}</b> and its documents? This can’t be undone.
      </Confirm>
    </p>
  )
}

const SourceItem = ({ of }: { readonly of: SourceInfo }) => {
  const { address, changes, done = 0, failed, lastRun, message, name, nextRun, report, schedule, state } = of
  const [scheduling, setScheduling] = useState(false)
  const facts = [
    describeSchedule(schedule),
    lastRun !== undefined && `last run ${time(lastRun)}${countsOf(of) && `: ${countsOf(of)}`}`,
    nextRun !== undefined && state !== "waiting" && `next run ${time(nextRun)}`
  ].filter(Boolean)
  return (
    <li data-state={state}>
      <span>
        <b>{name}</b> <span class="quiet">{address}</span>
      </span>
      <span class="quiet">{state === "running" && pluralize(done, "document")}</span>
      <span class="upload-state no-break">{STATES[state]}</span>
      {state === "running" && <ProgressBar label={`Reading ${name}`} done={done} total={0} />}
      {message !== undefined && <p role="alert">{message}</p>}
      <p class="quiet">{facts.join(" · ")}</p>
      {changes.length > 0 && (
        <details class="faults quiet own-line changes">
          <summary>
            {changes.length === 100 ? "The first 100 changes" : pluralize(changes.length, "change")}
          </summary>
          <ul>
            {changes.map(({ path, status }) => (
              <li key={path}>
                {status} {path}
              </li>
            ))}
          </ul>
        </details>
      )}
      <FailedFiles failed={failed} unlisted={report?.unlisted} />
      <Actions of={of} onSchedule={() => setScheduling(!scheduling)} />
      {scheduling && (
        <ActionForm
          class="new-key"
          actions={["Save"]}
          send={(read) => changeSchedule(of, readSchedule(read))}
          onDone={() => setScheduling(false)}
        >
          <ScheduleFields now={schedule} />
        </ActionForm>
      )}
    </li>
  )
}

export const SourcesSection = () => {
  const [adding, setAdding] = useState(false)
  const list = sources.value?.sources ?? []
  if (sources.value === undefined) return <ErrorMessage error={sourcesError.value} />
  return (
    <section class="stack card entries sources" aria-label="Sources">
      <div class="row baseline ends uploads-head">
        <strong>Sources</strong>
        <LinkButton aria-expanded={adding} onClick={() => setAdding(!adding)}>
          Add a source
        </LinkButton>
      </div>
      {list.length === 0 && !adding && (
        <p class="quiet">
          Follow a web site, a Git repository, a bucket or a folder: its documents stay up to date.
        </p>
      )}
      {adding && <NewSource onDone={() => setAdding(false)} />}
      <ErrorMessage error={sourceChanges.error.value ?? sourcesError.value} />
      {list.length > 0 && (
        <ul class="lines uploads-list">
          {list.map((source) => (
            <SourceItem key={source.id} of={source} />
          ))}
        </ul>
      )}
    </section>
  )
}
