/** A tab of the playground: a form, its result, and the same call as code. */
import { computed, effect, signal, untracked } from "@preact/signals"
import type { JSX } from "preact"
import type { ListedModel } from "../api/gateway.ts"
import { modelList, modelsFor, OPERATION_OF } from "../models/models.ts"
import type { RunningCall } from "../page/calls.ts"
import { persisted } from "../page/persisted.ts"
import { type Capability, currentRoute } from "../page/route.ts"
import { status } from "../page/status.ts"
import type { Snippet } from "../snippets/program.ts"
import { Button, CopyButton } from "../ui/Button.tsx"
import { Field, Segments, Select } from "../ui/Fields.tsx"
import { duration } from "../ui/format.ts"
import { ErrorMessage } from "../ui/Notices.tsx"
import { Scroller } from "../ui/DataTable.tsx"

const chosen = persisted<Partial<Record<Capability, string>>>("models", {})

const chooseModel = (capability: Capability, model: string): void => {
  chosen.value = { ...chosen.value, [capability]: model }
}

// A link in the list of models chooses.
effect(() => {
  const now = currentRoute.value
  if (now.view !== "playground" || now.model === undefined) return
  const { capability, model } = now
  untracked(() => chooseModel(capability, model))
})

/** For chat the server's reader; for questions about images another chat model, which may see. */
const defaultModel = (capability: Capability): ListedModel | undefined => {
  const all = modelsFor(OPERATION_OF[capability])
  const isReader = ({ id }: ListedModel) => id === status.value?.models.chat
  if (capability === "chat") return all.find(isReader) ?? all[0]
  return (capability === "look" ? all.find((each) => !isReader(each)) : undefined) ?? all[0]
}

/** The model's identifier; empty until the list is loaded. */
export const modelOf = (capability: Capability): string =>
  chosen.value[capability] ?? defaultModel(capability)?.id ?? ""

export const modelDetails = (capability: Capability) =>
  computed(() => {
    const id = modelOf(capability)
    return modelsFor(OPERATION_OF[capability]).find((model) => model.id === id)
  })

const ModelField = ({ capability }: { readonly capability: Capability }) => {
  const now = modelOf(capability)
  const known = modelsFor(OPERATION_OF[capability])
  const details = modelDetails(capability).value
  const group = details?.group === details?.operation ? undefined : details?.group
  const hint = [group, details?.note].filter(Boolean).join(" · ")
  // A gateway may not list its models: then the name is typed.
  const isTyped = modelList.value !== undefined && known.length === 0
  const help = isTyped ? "The server lists no model for this. Enter the name of one." : hint
  return (
    <Field label="Model" hint={help || "\u00a0"}>
      {(id) =>
        isTyped ? (
          <input
            id={id}
            required
            spellcheck={false}
            value={now}
            onInput={(event) => chooseModel(capability, event.currentTarget.value.trim())}
          />
        ) : (
          <Select
            id={id}
            value={now}
            values={[...new Set([...known.map((model) => model.id), now])]}
            onValue={(model) => chooseModel(capability, model)}
          />
        )
      }
    </Field>
  )
}

/** One group for each of `TOKEN_KINDS`. A string that is not closed ends with the text, so that it is read once. */
const TOKEN =
  /((?:^|(?<=\s))(?:\/\/|#).*$)|("(?:\\[^]?|[^"\\])*"?|'(?:\\[^]?|[^'\\])*'?|`(?:\\[^]?|[^`\\])*`?)|(\b(?:import|from|const|yield|for|of|function|curl|until|do|done)\b)/gm

const TOKEN_KINDS = ["comment", "string", "word"]

/** Code with its strings, comments and keywords marked. */
const highlight = (text: string) =>
  text.split(TOKEN).map((part, at) => {
    // Text, then what each group matched, and so on.
    const kind = TOKEN_KINDS[(at % (TOKEN_KINDS.length + 1)) - 1]
    return kind === undefined ? part : part && <span data-token={kind}>{part}</span>
  })

const LANGUAGES = { curl: "curl", effect: "Effect" } as const

/** Shared by all tabs. */
const language = signal<keyof Snippet>("curl")

const CodePanel = ({ snippet }: { readonly snippet: Snippet }) => {
  const now = language.value
  return (
    <aside class="code-panel card" aria-label="The same call as code">
      <header class="row">
        <h2>The same call</h2>
        <Segments legend="Language" choices={LANGUAGES} value={language} />
        <CopyButton text={snippet[now]} what={`the call as ${LANGUAGES[now]}`} />
      </header>
      <Scroller class="listing" label="Code">
        <pre>
          <code>{highlight(snippet[now])}</code>
        </pre>
      </Scroller>
    </aside>
  )
}

export interface Tab {
  readonly name: string
  readonly lead: string
  readonly call: Pick<RunningCall<unknown>, "now" | "stop">
  readonly action: string
  readonly submit: () => void
  /** Why the form cannot be sent yet. */
  readonly missing?: () => string | undefined
  readonly snippet: () => Snippet
  readonly Fields: () => JSX.Element
  readonly Result: () => JSX.Element | null
}

export const TabView = ({ capability, tab }: { capability: Capability; tab: Tab }) => {
  const { action, call, Fields, Result } = tab
  const { error, milliseconds, state } = call.now.value
  const missing = modelOf(capability) === "" ? "Waiting for the list of models." : tab.missing?.()
  const working = state === "working"
  return (
    <div class="stack call-tab">
      <div class="stack loose call-form">
        <form
          class="stack loose"
          aria-busy={working}
          onSubmit={(event) => {
            event.preventDefault()
            if (!working && missing === undefined) tab.submit()
          }}
        >
          <ModelField capability={capability} />
          <Fields />
          <div class="row send">
            {/* The button stays and keeps the focus: a second click would hit what replaces it. */}
            <button class="button primary" disabled={missing !== undefined} aria-disabled={working}>
              {action}
            </button>
            {working && <Button onClick={call.stop}>Stop</Button>}
            <p class="quiet">{missing ?? (milliseconds === undefined ? "" : duration(milliseconds))}</p>
          </div>
        </form>
        <ErrorMessage error={error} />
        <Result />
      </div>
      <CodePanel snippet={tab.snippet()} />
    </div>
  )
}
