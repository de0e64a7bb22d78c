/** What is asked, below the question: which collection, and what of it. */
import { CollectionChoice } from "../documents/CollectionChoice.tsx"
import { Narrowing } from "./FilterPanel.tsx"

export const AskedOf = () => (
  <div class="asked-of">
    <Narrowing />
    <CollectionChoice />
  </div>
)
