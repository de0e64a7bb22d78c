/** Ask, and read the answer. */
import { current } from "../questions/questions.ts"
import { AskedOf } from "./AskedOf.tsx"
import { AnswerView } from "./AnswerView.tsx"
import { History } from "./History.tsx"
import { QuestionBox } from "./QuestionBox.tsx"
import { Welcome } from "./Welcome.tsx"

export const AskView = () => {
  const now = current.value
  if (now === undefined) return <Welcome />
  return (
    <div class="asking">
      <QuestionBox />
      <AskedOf />
      <AnswerView asked={now} key={`${now.collection} ${now.question}`} />
      <History />
    </div>
  )
}
