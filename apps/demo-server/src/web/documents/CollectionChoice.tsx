/** Chooses the collection, if there are several. */
import { useId } from "preact/hooks"
import { chooseCollection, collection, collections } from "./collections.ts"

export const CollectionChoice = () => {
  const id = useId()
  const all = collections.value ?? []
  if (all.length < 2) return null
  return (
    <div class="collection-choice">
      <label htmlFor={id}>Collection</label>
      <select
        id={id}
        value={collection.value}
        onChange={(event) => chooseCollection(event.currentTarget.value)}
      >
        {all.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </div>
  )
}
