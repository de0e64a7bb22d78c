/** Chooses, creates and deletes collections. */
import { useLayoutEffect, useState } from "preact/hooks"
import { COLLECTION_NAME, DEFAULT_COLLECTION } from "../../contract/Names.ts"
import {
  collection,
  CollectionChoice,
  collectionError,
  collectionSize,
  createCollection,
  deleteCollection
} from "../documents/collections.tsx"
import { ActionForm, Confirm } from "../ui/ActionForm.tsx"
import { Button, LinkButton } from "../ui/Button.tsx"
import { InputField } from "../ui/Fields.tsx"
import { pluralize } from "../ui/format.ts"
import { ErrorMessage } from "../ui/Notices.tsx"

const NewCollection = ({ onDone }: { readonly onDone: () => void }) => (
  <ActionForm class="new-key" action="Create" send={(read) => createCollection(read("name"))} onDone={onDone}>
    <InputField
      label="Name of the collection"
      hint="Letters, digits, dots, dashes and underscores. Each collection is searched separately."
      name="name"
      required
      maxLength={64}
      pattern={COLLECTION_NAME.source}
      title="A letter or a digit, then letters, digits, dots, dashes or underscores"
      spellcheck={false}
    />
  </ActionForm>
)

const Deletion = ({ name, onDone }: { name: string; onDone: () => void }) => {
  const { documents } = collectionSize.value
  const contents =
    documents === undefined
      ? " with all its documents"
      : documents === 0
        ? ""
        : ` with ${pluralize(documents, "document")}`
  return (
    <Confirm action="Delete" onConfirm={() => deleteCollection(name)} onDone={onDone}>
      Delete <b>{name}</b>
      {contents}? This can’t be undone.
    </Confirm>
  )
}

export const CollectionsBar = () => {
  const [open, setOpen] = useState<"creation" | "deletion" | undefined>(undefined)
  const chosen = collection.value
  useLayoutEffect(() => setOpen(undefined), [chosen])
  const close = () => setOpen(undefined)
  const toggle = (form: "creation" | "deletion") => setOpen(open === form ? undefined : form)
  return (
    <section class="collections" aria-label="Collections">
      <div class="collections-head">
        <CollectionChoice />
        <LinkButton aria-expanded={open === "creation"} onClick={() => toggle("creation")}>
          New collection
        </LinkButton>
        {chosen !== DEFAULT_COLLECTION && (
          <Button
            kind="link trouble-link"

            aria-expanded={open === "deletion"}
            onClick={() => toggle("deletion")}
          >
            Delete {chosen}
          </Button>
        )}
      </div>
      {open === "creation" && <NewCollection onDone={close} />}
      {open === "deletion" && <Deletion name={chosen} onDone={close} />}
      <ErrorMessage error={collectionError.value} />
    </section>
  )
}
