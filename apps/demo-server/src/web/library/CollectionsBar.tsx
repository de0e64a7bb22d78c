/** Chooses, creates and deletes collections. */
import { useState } from "preact/hooks"
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
      opener={(open) => (
        <Button kind="link trouble-link" onClick={open}>
          Delete {name}
        </Button>
      )}
    >
      Delete <b>{name}</b> with {contents}? This can’t be undone.
    </Confirm>
  )
}

export const CollectionsBar = () => {
  const [creating, setCreating] = useState(false)
  const chosen = collection.value
  return (
    <section class="collections" aria-label="Collections">
      <div class="collections-head">
        <CollectionChoice />
        <LinkButton aria-expanded={creating} onClick={() => setCreating(!creating)}>
          New collection
        </LinkButton>
        {chosen !== DEFAULT_COLLECTION && <Deletion name={chosen} />}
      </div>
      {creating && <NewCollection onDone={() => setCreating(false)} />}
      <ErrorMessage error={collectionError.value} />
    </section>
  )
}
