/** A tab of the playground: a form, its result, and the same call as code. */
import { signal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { modelList, modelsFor } from "../models/models.ts"
import type { CallState } from "../page/calls.ts"
import type { Capability } from "../page/route.ts"
import type { Snippet } from "../snippets/program.ts"
import { CopyButton } from "../ui/CopyButton.tsx"
import { Field, Segments } from "../ui/Fields.tsx"
import { duration } from "../ui/format.ts"
import { ErrorMessage } from "../ui/Notices.tsx"
import { Scroller } from "../ui/Scroller.tsx"
import { chooseModel, modelDetails, modelOf, OPERATION_OF } from "./chosenModel.ts"

const ModelField = ({ capability }: { readonly capability: Capability }) => {
  const now = modelOf(capability)
  const known = modelsFor(OPERATION_OF[capability])
  const details = modelDetails(capability).value
  const hint = [details?.group === details?.operation ? undefined : details?.group, details?.note]
    .filter((each) => each !== undefined)
    .join(" · ")
  // A gateway may not list its models: then the name is typed.
  const isTyped = modelList.value !== undefined && known.length === 0
  return (
    <Field
      label="Model"
      hint={isTyped ? "The server lists no model for this. Enter the name of one." : hint || "\u00a0"}
    >
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
          <select
            id={id}
            value={now}
            onChange={(event) => chooseModel(capability, event.currentTarget.value)}
          >
            {!known.some((model) => model.id === now) && <option value={now}>{now}</option>}
            {known.map((model) => (
              <option key={model.id} value={model.id} selected={model.id === now}>
                {model.id}
              </option>
            ))}
          </select>
        )
      }
    </Field>
  )
}

const TOKEN =
  /(?<comment>(?:^|(?<=\s))(?:\/\/|#).*$)|(?<string>"(?:\\.|[^"\\])*"|'(?:[^'\\]|\\.)*'|`(?:\\.|[^`\\])*`)|(?<word>\b(?:import|from|const|yield|for|of|function|curl|until|do|done)\b)/gm

/** Code with its strings, comments and keywords marked. */
const highlight = (text: string): ReadonlyArray<ComponentChildren> => {
  const parts: Array<ComponentChildren> = []
  let at = 0
  for (const match of text.matchAll(TOKEN)) {
    const kind = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined)?.[0]
    parts.push(text.slice(at, match.index), <span data-token={kind}>{match[0]}</span>)
    at = match.index + match[0].length
  }
  return [...parts, text.slice(at)]
}

const LANGUAGES = { curl: "curl", effect: "Effect" } as const

/** Shared by all tabs. */
const language = signal<keyof Snippet>("curl")

/** The call of the form as code. */
const CodePanel = ({ snippet }: { readonly snippet: Snippet }) => {
  const now = language.value
  return (
    <aside class="same-call" aria-label="The same call as code">
      <header>
        <h2>The same call</h2>
        <Segments
          legend="Language"
          choices={LANGUAGES}
          value={now}
          onValue={(value) => (language.value = value)}
        />
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

interface Props {
  readonly now: CallState<unknown>
  readonly onSubmit: () => void
  readonly onStop: () => void
  readonly capability: Capability
  /** The text of the submit button. */
  readonly action: string
  readonly snippet: Snippet
  readonly fields: ComponentChildren
  /** The result. */
  readonly children?: ComponentChildren
  /** Why the form cannot be sent yet. */
  readonly missing?: string | undefined
}

export const CallForm = (props: Props) => {
  const { now, onStop, onSubmit } = props
  const missing = modelOf(props.capability) === "" ? "Waiting for the list of models." : props.missing
  const working = now.state === "working"
  const time = now.state === "done" && now.milliseconds !== undefined ? duration(now.milliseconds) : ""
  return (
    <div class="try">
      <div class="tried">
        <form
          aria-busy={working}
          onSubmit={(event) => {
            event.preventDefault()
            if (!working && missing === undefined) onSubmit()
          }}
        >
          <ModelField capability={props.capability} />
          {props.fields}
          <div class="send">
            {/* The button stays and keeps the focus: a second click would hit what replaces it. */}
            <button
              class="button primary"
              type="submit"
              disabled={missing !== undefined}
              aria-disabled={working}
            >
              {props.action}
            </button>
            {working && (
              <button class="button" type="button" onClick={onStop}>
                Stop
              </button>
            )}
            <p class="quiet">{missing ?? time}</p>
          </div>
        </form>
        <ErrorMessage error={now.error} />
        {props.children}
      </div>
      <CodePanel snippet={props.snippet} />
    </div>
  )
}
