/** Chooses, creates, shares and deletes collections. */
import { useState } from "preact/hooks"
import { COLLECTION_NAME, DEFAULT_COLLECTION } from "../../contract/Names.ts"
import {
  chosenCollection,
  collection,
  CollectionChoice,
  collectionError,
  collectionSize,
  createCollection,
  deleteCollection
} from "../documents/collections.tsx"
import { ActionForm, Confirm } from "../ui/ActionForm.tsx"
import { LinkButton } from "../ui/Button.tsx"
import { InputField } from "../ui/Fields.tsx"
import { pluralize } from "../ui/format.ts"
import { ErrorMessage } from "../ui/Notices.tsx"
import { MembersSection } from "./MembersSection.tsx"

const NewCollection = ({ onDone }: { readonly onDone: () => void }) => (
  <ActionForm
    class="new-key"
    actions={["Create"]}
    send={(read) => createCollection(read("name"))}
    onDone={onDone}
  >
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

const Deletion = ({ name }: { readonly name: string }) => {
  const { documents } = collectionSize.value
  const contents = documents === undefined ? "all its documents" : pluralize(documents, "document")
  return (
    <Confirm
      action="Delete"
      onConfirm={() => deleteCollection(name)}
      opener={{ kind: "link problem", children: `Delete ${name}` }}
    >
      Delete <b>{name}</b> with {contents}? This can’t be undone.
    </Confirm>
  )
}

export const CollectionsBar = () => {
  const [form, setForm] = useState<"new" | "members">()
  const chosen = collection.value
  const { members = 0, shared } = chosenCollection.value ?? {}
  const toggle = (opened: typeof form) => setForm(form === opened ? undefined : opened)
  return (
    <section class="stack collections" aria-label="Collections">
      <div class="row collections-head">
        <CollectionChoice />
        <LinkButton aria-expanded={form === "new"} onClick={() => toggle("new")}>
          New collection
        </LinkButton>
        {shared === undefined && (
          <LinkButton aria-expanded={form === "members"} onClick={() => toggle("members")}>
            {members === 0 ? "Share" : `Shared with ${members.toLocaleString()}`}
          </LinkButton>
        )}
        {chosen !== DEFAULT_COLLECTION && shared === undefined && <Deletion name={chosen} />}
      </div>
      {form === "new" && <NewCollection onDone={() => setForm(undefined)} />}
      {form === "members" && shared === undefined && <MembersSection />}
      <ErrorMessage error={collectionError.value} />
    </section>
  )
}
