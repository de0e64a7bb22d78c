/** The question box with the answer, or with an introduction before the first question. */
import { DEFAULT_COLLECTION } from "../../contract/Names.ts"
import { collection, CollectionChoice, collectionSize } from "../documents/collections.tsx"
import { documents as listedDocuments } from "../documents/documents.ts"
import { DemoModels } from "../page/DemoModels.tsx"
import { conversationHref, questionHref } from "../page/route.ts"
import { status } from "../page/status.ts"
import { recent } from "../questions/conversation.ts"
import { current, questions, type QuestionState } from "../questions/questions.ts"
import { pluralize } from "../ui/format.ts"
import { AnswerView } from "./AnswerView.tsx"
import { FilterPanel, QuestionBox } from "./QuestionForm.tsx"

const outcomeOf = ({ answer, state }: QuestionState): string => {
  if (state === "failed") return "failed"
  if (answer === undefined) return "asking"
  if (answer.outcome === "unread") return "not read"
  return answer.found ? `${answer.citations.length} cited` : "no answer"
}

const History = () => {
  const earlier = questions.value.filter((each) => each !== current.value)
  if (earlier.length === 0) return null
  return (
    <section class="history screen-only" aria-labelledby="history-title">
      <h2 id="history-title">Earlier questions</h2>
      <ul class="lines">
        {earlier.map((each) => (
          <li key={`${each.collection} ${each.question}`}>
            <a class="clamped" href={questionHref(each.question, each.collection)}>
              {each.question}
            </a>
            <span class="quiet">{outcomeOf(each)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

const Conversations = () =>
  recent.value.length > 0 && (
    <section class="history screen-only" aria-labelledby="conversations-title">
      <h2 id="conversations-title">Conversations</h2>
      <ul class="lines">
        {recent.value.map(({ id, title }) => (
          <li key={id}>
            <a class="clamped" href={conversationHref(id)}>
              {title}
            </a>
          </li>
        ))}
      </ul>
    </section>
  )

const Form = () => (
  <>
    <QuestionBox />
    <div class="row question-options screen-only">
      <FilterPanel />
      <CollectionChoice />
    </div>
  </>
)

const WIDTH = 720
const ROW = 7
const GATE = 500
const STREAMS = 20
/** The streams start and end outside the picture. */
const OUTSIDE = 2000

/** The row at the gate of each stream: a fixed shuffle, so that the picture is always the same. */
const GATE_ROWS = [3, 0, 6, 1, 9, 4, 12, 2, 7, 15, 5, 10, 17, 8, 13, 11, 19, 14, 16, 18]

const y = (row: number): number => ROW / 2 + row * ROW

/** The retrieval as a picture: twenty streams, a gate, three that pass. */
const WelcomePicture = () => (
  <svg
    class="water"
    viewBox={`0 0 ${WIDTH} ${STREAMS * ROW}`}
    preserveAspectRatio="xMidYMid slice"
    aria-hidden="true"
  >
    {GATE_ROWS.map((to, from) => {
      const middle = GATE * 0.55
      const path = `M${-OUTSIDE} ${y(from)} H0 C${middle} ${y(from)} ${middle} ${y(to)} ${GATE} ${y(to)}`
      return to < 3 ? (
        <path pathLength={1} class="stream passes" d={`${path} H${WIDTH + OUTSIDE}`} />
      ) : (
        <path pathLength={1} class="stream" d={path} />
      )
    })}
    {GATE_ROWS.map((_, row) =>
      row < 3 ? null : (
        <rect class="plank" x={GATE} y={row * ROW + 0.75} width="10" height={ROW - 1.5} rx="1" />
      )
    )}
    <path class="post" d={`M${GATE - 3} 0V${STREAMS * ROW}M${GATE + 13} 0V${STREAMS * ROW}`} />
  </svg>
)

const Welcome = () => {
  const now = status.value
  const starters = now?.questions ?? []
  const isDefault = collection.value === DEFAULT_COLLECTION
  const { documents, passages = 0 } = collectionSize.value
  // The starters are about the samples, which a user may have removed.
  const hasSamples =
    now?.state === "filling" || listedDocuments.value?.some(({ metadata }) => metadata?.["sample"] === true)
  return (
    <div class="welcome">
      <h1>
        Ask your documents. <em>See the evidence.</em>
      </h1>
      <p class="lead">
        Sluice retrieves 20 passages, reranks them, and answers from the best 3, with a source for every
        sentence.
      </p>
      <Form />
      <DemoModels />
      {isDefault && hasSamples && starters.length > 0 && (
        <ul class="starters" aria-label="Questions to start with">
          {starters.map((question) => (
            <li key={question}>
              <a href={questionHref(question, DEFAULT_COLLECTION)}>{question}</a>
            </li>
          ))}
        </ul>
      )}
      <WelcomePicture />
      {documents !== undefined && (
        <p class="soft library-size">
          {documents === 0
            ? `${isDefault ? "The library" : "This collection"} is empty. `
            : `${pluralize(documents, "document")}, ${pluralize(passages, "passage")}. `}
          <a href="#documents">{documents === 0 ? "Add documents" : "View documents"}</a>, or drop files and
          folders anywhere on this page.
        </p>
      )}
      <History />
      <Conversations />
    </div>
  )
}

export const AskView = () => {
  const now = current.value
  return now === undefined ? (
    <Welcome />
  ) : (
    <div class="asking">
      <Form />
      <AnswerView question={now} key={`${now.collection} ${now.question}`} />
      <History />
    </div>
  )
}
