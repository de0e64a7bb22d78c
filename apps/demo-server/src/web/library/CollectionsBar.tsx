/** The collections: one is chosen, made, or deleted after a second look. */
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { COLLECTION_PATTERN, DEFAULT_COLLECTION } from "../api/collectionPath.ts"
import {
  collection,
  collectionFailure,
  collections,
  makeCollection,
  removeCollection
} from "../documents/collections.ts"
import { counted } from "../ui/counted.ts"
import { CollectionChoice } from "../documents/CollectionChoice.tsx"
import { Confirm } from "../ui/Confirm.tsx"
import { Field } from "../ui/Fields.tsx"
import { Problem } from "../ui/Problem.tsx"

const NewCollection = ({ onDone }: { readonly onDone: () => void }) => {
  const [busy, setBusy] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => input.current?.focus(), [])
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const name = input.current?.value.trim() ?? ""
    if (name === "" || busy) return
    setBusy(true)
    const made = await makeCollection(name)
    setBusy(false)
    if (made) onDone()
  }
  return (
    <form class="new-key" onSubmit={submit} aria-busy={busy}>
      <Field
        label="Name of the collection"
        hint="Letters, digits, dots, dashes and underscores. Its documents are asked apart from all others."
      >
        {(id) => (
          <input
            id={id}
            ref={input}
            required
            maxLength={64}
            pattern={COLLECTION_PATTERN}
            title="A letter or a digit, then letters, digits, dots, dashes or underscores"
            autocomplete="off"
            spellcheck={false}
          />
        )}
      </Field>
      <div class="send">
        <button class="button primary" type="submit" aria-disabled={busy}>
          Make it
        </button>
        <button class="button" type="button" onClick={onDone}>
          Cancel
        </button>
      </div>
    </form>
  )
}

const Deletion = ({ name, onDone }: { readonly name: string; readonly onDone: () => void }) => {
  const held = collections.value?.find((each) => each.name === name)?.documents
  const what =
    held === undefined ? "all its documents" : held === 0 ? "nothing in it" : counted(held, "document")
  return (
    <Confirm
      label={`Delete ${name}?`}
      action="Delete for good"
      keep="Keep it"
      onSure={() => removeCollection(name)}
      onDone={onDone}
    >
      Delete <b>{name}</b>, with {what}? Nobody can bring it back.
    </Confirm>
  )
}

export const Collections = () => {
  const [doing, setDoing] = useState<"making" | "deleting" | undefined>(undefined)
  const chosen = collection.value
  useLayoutEffect(() => setDoing(undefined), [chosen])
  const done = () => setDoing(undefined)
  return (
    <section class="collections" aria-label="Collections">
      <div class="collections-head">
        <CollectionChoice />
        <button
          class="link"
          type="button"
          aria-expanded={doing === "making"}
          onClick={() => setDoing(doing === "making" ? undefined : "making")}
        >
          New collection
        </button>
        {chosen !== DEFAULT_COLLECTION && (
          <button
            class="link trouble-link"
            type="button"
            aria-expanded={doing === "deleting"}
            onClick={() => setDoing(doing === "deleting" ? undefined : "deleting")}
          >
            Delete {chosen}
          </button>
        )}
      </div>
      {doing === "making" && <NewCollection onDone={done} />}
      {doing === "deleting" && <Deletion name={chosen} onDone={done} />}
      <Problem failure={collectionFailure.value} />
    </section>
  )
}
