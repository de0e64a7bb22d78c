/** What is asked, below the question: which collection, and what of it. */
import { CollectionChoice } from "./CollectionChoice.tsx"
import { Narrowing } from "./Narrowing.tsx"

export const AskedOf = () => (
  <div class="asked-of">
    <Narrowing />
    <CollectionChoice />
  </div>
)
