/** What every try is made of: a form, its button, what came of it, and the same call as code. */
import type { ComponentChildren } from "preact"
import { modelOf } from "./chosenModel.ts"
import type { Capability } from "../page/route.ts"
import type { CallState } from "../page/runningCall.ts"
import type { Snippet } from "../snippets/Snippet.ts"
import { SameCall } from "./SameCall.tsx"

interface Props {
  readonly now: CallState<unknown>
  readonly onSubmit: () => void
  readonly onStop: () => void
  readonly capability: Capability
  /** On the button. */
  readonly action: string
  readonly snippet: Snippet
  /** The fields. */
  readonly fields: ComponentChildren
  /** What came. */
  readonly children?: ComponentChildren
  /** Why it cannot be sent yet. */
  readonly missing?: string | undefined
}

/** Two figures are enough to compare by. */
const duration = (milliseconds: number): string =>
  milliseconds >= 1000
    ? `${(milliseconds / 1000).toFixed(1)} s`
    : `${Math.max(1, Math.round(milliseconds))} ms`

export const Try = (props: Props) => {
  const { action, capability, children, fields, now, onStop, onSubmit, snippet } = props
  const missing = modelOf(capability) === "" ? "Waiting for the list of models." : props.missing
  const working = now.state === "working"
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
          {fields}
          <div class="send">
            {/* It stays, and keeps the focus: what takes its place would be hit by a second click. */}
            <button
              class="button primary"
              type="submit"
              disabled={missing !== undefined}
              aria-disabled={working}
            >
              {action}
            </button>
            {working && (
              <button class="button" type="button" onClick={onStop}>
                Stop
              </button>
            )}
            <p class="quiet">
              {missing ??
                (now.state === "done" && now.milliseconds !== undefined ? duration(now.milliseconds) : "")}
            </p>
          </div>
        </form>
        {now.failure !== undefined && (
          <p class="trouble" role="alert">
            {now.failure.message}
          </p>
        )}
        {children}
      </div>
      <SameCall snippet={snippet} />
    </div>
  )
}
