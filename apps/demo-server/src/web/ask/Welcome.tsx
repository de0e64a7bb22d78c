/** The page before the first question. */
import { counted } from "../ui/counted.ts"
import { status } from "../page/status.ts"
import { stockOf } from "../documents/stock.ts"
import { collection } from "../documents/collections.ts"
import { DEFAULT_COLLECTION } from "../api/collectionPath.ts"
import { AskedOf } from "./AskedOf.tsx"
import { History } from "./History.tsx"
import { QuestionBox } from "./QuestionBox.tsx"
import { Starters } from "./Starters.tsx"
import { WaterPicture } from "./WelcomePicture.tsx"

export const Welcome = () => {
  const now = status.value
  const isDefault = collection.value === DEFAULT_COLLECTION
  const { documents = 0, passages = 0 } = stockOf(collection.value)
  // While the library fills, what they ask for is on its way.
  const canBeAsked = documents > 0 || now?.state !== "ready"
  return (
    <div class="welcome">
      <h1>
        Ask your documents. <em>See the evidence.</em>
      </h1>
      <p class="lead">
        Twenty passages are drawn, three pass the gate, and every sentence of the answer names its source.
      </p>
      <QuestionBox />
      <AskedOf />
      {isDefault && canBeAsked && <Starters questions={now?.questions ?? []} />}
      <WaterPicture />
      {now !== undefined && (
        <p class="stock">
          {documents === 0
            ? `${isDefault ? "The library" : "This collection"} is empty. `
            : `${counted(documents, "document")}, ${counted(passages, "passage")}. `}
          <a href="#documents">{documents === 0 ? "Add the first documents" : "See them"}</a>, or drop files
          and folders anywhere here.
        </p>
      )}
      <History />
    </div>
  )
}
