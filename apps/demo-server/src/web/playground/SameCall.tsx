/** The call that the form makes, as curl and as a program: it changes as the form does. */
import { signal } from "@preact/signals"
import type { Snippet } from "../snippets/Snippet.ts"
import { CopyButton } from "../ui/CopyButton.tsx"
import { Code } from "./Code.tsx"

const LANGUAGES = { curl: "curl", effect: "Effect" } as const

/** The same for every call: who reads one reads the next. */
const language = signal<keyof Snippet>("curl")

export const SameCall = ({ snippet }: { readonly snippet: Snippet }) => {
  const now = language.value
  return (
    <aside class="same-call" aria-label="The same call as code">
      <header>
        <h2>The same call</h2>
        <fieldset class="segments">
          <legend class="unseen">Language</legend>
          {Object.entries(LANGUAGES).map(([key, name]) => (
            <label key={key}>
              <input
                type="radio"
                name="language"
                checked={key === now}
                onChange={() => (language.value = key as keyof Snippet)}
              />
              <span>{name}</span>
            </label>
          ))}
        </fieldset>
        <CopyButton text={snippet[now]} what={`the call as ${LANGUAGES[now]}`} />
      </header>
      <Code text={snippet[now]} />
    </aside>
  )
}
