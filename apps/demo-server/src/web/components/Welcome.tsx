/** The page before the first question. */
import { counted } from "../state/counted.ts"
import { status } from "../state/status.ts"
import { History } from "./History.tsx"
import { Narrowing } from "./Narrowing.tsx"
import { QuestionBox } from "./QuestionBox.tsx"
import { Starters } from "./Starters.tsx"
import { WaterPicture } from "./WaterPicture.tsx"

export const Welcome = () => {
  const now = status.value
  return (
    <div class="welcome">
      <h1>
        Ask your documents. <em>See the evidence.</em>
      </h1>
      <p class="lead">
        Twenty passages are drawn, three pass the gate, and every sentence of the answer names its source.
      </p>
      <QuestionBox />
      <Narrowing />
      <Starters questions={now?.questions ?? []} />
      <WaterPicture />
      {now !== undefined && (
        <p class="stock">
          {now.documents === 0
            ? "The library is empty. "
            : `${counted(now.documents, "document")}, ${counted(now.passages, "passage")}. `}
          <a href="#documents">{now.documents === 0 ? "Add the first documents" : "See them"}</a>, or drop
          files and folders anywhere here.
        </p>
      )}
      <History />
    </div>
  )
}
