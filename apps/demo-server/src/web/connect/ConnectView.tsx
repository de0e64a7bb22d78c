/** Connect a model: for administrators. */
import { useSignal } from "@preact/signals"
import type { Connections, ConnectionTrial } from "../../contract/Connections.ts"
import { signedIn } from "../page/session.ts"
import { status } from "../page/status.ts"
import { ActionForm, Confirm, type FieldReader } from "../ui/ActionForm.tsx"
import { bindText, InputField, SelectField, TextField } from "../ui/Fields.tsx"
import { ErrorMessage, LoadState, MessageText } from "../ui/Notices.tsx"
import { LocalModelsSection } from "./LocalModelsSection.tsx"
import {
  clearTrial,
  connectionChanges,
  connections,
  connectionsError,
  parseModels,
  removeVendor,
  saveVendor,
  trial,
  sendTrial
} from "./connect.ts"

type Vendor = Connections["vendors"][number]

/** The uses of the library, the operation of their models, and their labels. */
const USES = {
  embedding: ["embeddings", "Search with"],
  rerank: ["rerank", "Rank with"],
  chat: ["chat", "Answer with"],
  vision: ["chat", "Look at figures with"]
} as const

type Use = keyof typeof USES
const USE_NAMES = Object.keys(USES) as ReadonlyArray<Use>

const Tries = ({ of: { models, tries } }: { readonly of: ConnectionTrial }) => (
  <ul class="stack tight tries" aria-label="Calls that were tried">
    {models.length === 0 && <li>The vendor lists no models. Name them above.</li>}
    {tries.map(({ message, model, ok, operation }) => (
      <li key={operation} data-ok={ok}>
        <span aria-hidden="true">{ok ? "✓" : "✗"}</span>
        <span>
          {operation}: <code>{model}</code> {ok ? "works" : "failed. "}
          {message !== undefined && (
            <span class="quiet">
              <MessageText text={message} />
            </span>
          )}
        </span>
      </li>
    ))}
    {models.length > 0 && tries.length === 0 && <li>Images and videos only: not tried.</li>}
  </ul>
)

const UseFields = ({ of: { library, models } }: { readonly of: ConnectionTrial }) => (
  <div class="columns">
    {USE_NAMES.map((use) => {
      const [operation, label] = USES[use]
      const names = models.filter((model) => model.operation === operation).map(({ id }) => [id, id] as const)
      const now = connections.value?.library[use]
      const keep = now ?? status.value?.models[use] ?? "none"
      return (
        names.length > 0 && (
          <SelectField
            key={use}
            label={label}
            name={use}
            value={now === undefined ? (library[use] ?? "") : ""}
            values={new Map([["", `${keep}, as now`], ...names])}
          />
        )
      )
    })}
  </div>
)

const keyHint = ({ hasKey, keyVariable }: Vendor, isSaved: boolean): string => {
  if (isSaved) return "Leave empty to keep the saved key."
  if (keyVariable === undefined) return "Leave empty if it needs none."
  return hasKey
    ? `Leave empty to use ${keyVariable}, which the server has.`
    : "It is kept in a private file on the server, and never shown again."
}

const ConnectForm = ({ vendors }: { readonly vendors: ReadonlyArray<Vendor> }) => {
  const chosen = useSignal(vendors.find(({ id }) => id === "openai")?.id ?? vendors[0]?.id ?? "")
  const name = useSignal("")
  const models = useSignal("")
  const vendor = vendors.find(({ id }) => id === chosen.value)
  if (vendor === undefined) return null
  const connected = (name: string) => connections.value?.connections.find(({ id }) => id === name)
  const isConnected = connected(vendor.id) !== undefined
  const id = (isConnected && name.value.trim()) || vendor.id
  const saved = connected(id)
  const now = trial.value
  const choose = (id: string) => {
    chosen.value = id
    name.value = ""
    models.value = ""
    clearTrial()
  }
  const send = (read: FieldReader): Promise<boolean> => {
    const named = parseModels(models.value)
    const body = {
      vendor: vendor.id,
      id,
      ...(read("url") !== "" && { url: read("url") }),
      ...(read("key") !== "" && { key: read("key") }),
      ...(named.length > 0 && { models: named })
    }
    if (read("action") !== "Save") return sendTrial({ ...body, media: read("media") === "on" })
    const library = Object.fromEntries(
      USE_NAMES.flatMap((use) => (read(use) === "" ? [] : [[use, read(use)]]))
    )
    return saveVendor({ ...body, library })
  }
  // Also where the list could not be read: not every vendor has one.
  const asksModels =
    models.value !== "" ||
    (now === undefined ? connectionChanges.error.value !== undefined : now.models.length === 0)
  const canSave = now !== undefined && (now.tries.length === 0 || now.tries.some(({ ok }) => ok))
  const makesMedia = vendor.operations.some((name) => name === "images" || name === "videos")
  return (
    <ActionForm class="new-key" actions={canSave ? ["Save", "Try again"] : ["Try it"]} send={send}>
      <SelectField
        label="Vendor"
        hint={vendor.operations.join(", ")}
        value={vendor.id}
        values={new Map(vendors.map(({ id, name }) => [id, name]))}
        onValue={choose}
      />
      {isConnected && (
        <InputField
          label="Name (optional)"
          hint={
            saved !== undefined && saved.vendor !== vendor.id
              ? `Replaces ${id}, a connection of ${saved.vendor}.`
              : `Leave empty to change ${vendor.id}. Another name connects it a second time.`
          }
          {...bindText(name)}
        />
      )}
      <div class="columns" key={`${vendor.id} ${saved?.id}`}>
        <InputField
          label={vendor.url === undefined ? "Address" : "Address (optional)"}
          hint={vendor.url === undefined ? "Such as https://gateway.example" : `Default: ${vendor.url}`}
          name="url"
          type="url"
          defaultValue={saved?.url ?? ""}
          required={vendor.url === undefined}
        />
        <InputField
          label="Key"
          hint={keyHint(vendor, saved !== undefined)}
          name="key"
          type="password"
          spellcheck={false}
        />
      </div>
      {asksModels && (
        <TextField
          label="Models"
          hint="One per line, with its operation: chat NAME, or images NAME."
          text={models}
          optional
        />
      )}
      {makesMedia && (
        <label class="check">
          <input type="checkbox" name="media" /> Try an image and a video too, at the vendor’s price
        </label>
      )}
      <ErrorMessage error={connectionChanges.error.value} />
      {now !== undefined && <Tries of={now} />}
      {canSave && <UseFields of={now} />}
      <p class="quiet">
        Trying sends a few words, which cost next to nothing. Another model for search needs a rebuild of the
        documents.
      </p>
    </ActionForm>
  )
}

const Connected = ({ of: { connections: all } }: { readonly of: Connections }) => (
  <section class="stack loose keys-list" aria-labelledby="connected-title">
    <h2 id="connected-title">Connected</h2>
    <ul class="lines closed">
      {all.map(({ id, url, vendor }) => (
        <li key={id}>
          <p class="name">{id}</p>
          <p class="row quiet facts-line">
            <span>{url ?? connections.value?.vendors.find((one) => one.id === vendor)?.url}</span>
          </p>
          <div class="row actions">
            <Confirm
              action="Remove"
              onConfirm={() => removeVendor(id)}
              opener={{ "aria-label": `Remove ${id}`, children: "Remove" }}
            >
              Remove <b>{id}</b>? Its models will no longer answer. A key that was pasted here is deleted.
            </Confirm>
          </div>
        </li>
      ))}
    </ul>
  </section>
)

export const ConnectView = () => {
  const now = connections.value
  if (signedIn.value?.role !== "admin") return <p class="lead">Only administrators can connect a model.</p>
  return (
    <div class="stack account">
      <h1>Connect a model</h1>
      <LoadState error={connectionsError.value} loaded={now !== undefined} />
      {now?.problem !== undefined && <p class="trouble">{now.problem}.</p>}
      {now !== undefined && now.problem === undefined && (
        <>
          <ConnectForm key={now.connections.length} vendors={now.vendors} />
          {now.connections.length > 0 && <Connected of={now} />}
        </>
      )}
      <LocalModelsSection />
    </div>
  )
}
