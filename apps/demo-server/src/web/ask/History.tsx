/** What was asked before in this visit. */
import { asked, current } from "../questions/questions.ts"
import { questionHref } from "../page/route.ts"

export const History = () => {
  const earlier = asked.value.filter((each) => each !== current.value)
  if (earlier.length === 0) return null
  return (
    <section class="history" aria-labelledby="history-title">
      <h2 id="history-title">Earlier in this visit</h2>
      <ul>
        {earlier.map(({ answer, collection, question, state }) => (
          <li key={`${collection} ${question}`}>
            <a href={questionHref(question, collection)}>{question}</a>
            <span class="quiet">
              {state === "failed"
                ? "failed"
                : answer === undefined
                  ? "asking"
                  : answer.found
                    ? `${answer.citations.length} cited`
                    : "not found"}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
