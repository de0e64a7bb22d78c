/** A question and its answer: sentences, evidence, and the trace. */
import { collectionSize } from "../documents/collections.tsx"
import { askAgain, type QuestionState, stopQuestion, willRetry } from "../questions/questions.ts"
import { StageTimes, TraceSection } from "../trace/TraceSection.tsx"
import { Button, focusOnAppear, LinkButton } from "../ui/Button.tsx"
import { pluralize } from "../ui/format.ts"
import { MessageText } from "../ui/Notices.tsx"
import { AnswerBlocks } from "./AnswerBlocks.tsx"
import { ClosestPassages } from "./ClosestPassages.tsx"
import { CheckedFigures, EvidenceList } from "./EvidenceList.tsx"
import { FollowUpForm, Understood } from "./FollowUp.tsx"

type Props = { readonly question: QuestionState }

const Failed = ({ question }: Props) => (
  <div class="failed" role="alert" data-code={question.error?.code}>
    <p>
      <MessageText text={question.error?.message} />
      {willRetry(question) && " Your question will be sent again automatically."}
    </p>
    <Button onClick={() => askAgain(question)}>Ask again</Button>
  </div>
)

const Progress = ({ question }: Props) => (
  <>
    <div class="loading-bar" />
    <p class="row baseline waiting quiet">
      {question.stages.length === 0
        ? "Searching passages…"
        : question.sentences.length === 0 && question.draft === ""
          ? "Reading the best passages…"
          : "Writing the answer…"}
      <LinkButton onClick={() => stopQuestion(question)}>Stop</LinkButton>
    </p>
  </>
)

const reasonOf = ({ filterText, passages }: QuestionState): string => {
  if (passages.length > 0) return ""
  return filterText === undefined ? "No passage matches." : `Nothing matches your filter: ${filterText}.`
}

/** The model's response could not be read: the documents may well answer. */
const Unread = ({ question }: Props) => {
  const { closest = [], notRead } = question.answer ?? {}
  return (
    <div class="failed" role="alert">
      <p>
        <b>The answer could not be read.</b> <MessageText text={notRead?.message} />{" "}
        <MessageText text={notRead?.advice} />
      </p>
      <Button onClick={() => askAgain(question)}>Ask again</Button>
      {closest.length > 0 && <ClosestPassages closest={closest} />}
    </div>
  )
}

/** Other words would not help in an empty collection. */
const NoDocuments = () => (
  <div class="no-answer">
    <p class="answer">There are no documents yet.</p>
    <p>
      <a href="#documents">Add documents</a>, and ask again.
    </p>
  </div>
)

const NoAnswer = ({ question }: Props) => (
  <div class="no-answer">
    <p class="answer">{question.answer?.answer}</p>
    {question.answer?.outcome === "passages" && <ClosestPassages closest={question.answer.closest} />}
    <p>
      {reasonOf(question)} Try the words that your documents use, or <a href="#documents">add a document</a>{" "}
      that covers it.
    </p>
  </div>
)

export const AnswerView = ({ question }: Props) => {
  const { answer, citations, passages, state } = question
  return (
    <article class="result" data-state={state}>
      {/* The next press of Tab goes to the first citation. */}
      <h1 ref={focusOnAppear} tabIndex={-1}>
        {question.question}
      </h1>
      {question.filterText !== undefined && (
        <p class="quiet apart filter-text">Searched in {question.filterText}</p>
      )}
      <Understood question={question} />
      {question.error !== undefined && <Failed question={question} />}
      {answer?.outcome === "unread" ? (
        <Unread question={question} />
      ) : answer?.found === false ? (
        passages.length === 0 && collectionSize.value.documents === 0 ? (
          <NoDocuments />
        ) : (
          <NoAnswer question={question} />
        )
      ) : (
        <div class="answer" aria-busy={state === "asking"}>
          <AnswerBlocks question={question} />
          {question.draft !== "" && <p class="draft soft">{question.draft}</p>}
        </div>
      )}
      {state === "asking" && <Progress question={question} />}
      {answer?.found === true && answer.notRead !== undefined && (
        <p class="problem">
          This answer is incomplete. <MessageText text={answer.notRead.message} />{" "}
          <MessageText text={answer.notRead.advice} />
        </p>
      )}
      {answer?.found === true &&
        answer.parts
          ?.filter((part) => !part.found)
          .map((part) => <p class="problem">The documents do not answer: {part.question}</p>)}
      {answer !== undefined && answer.dropped > 0 && (
        <p class="quiet">{pluralize(answer.dropped, "sentence")} left out: quote not found in the source.</p>
      )}
      {answer !== undefined &&
        answer.unsupported > answer.sentences.filter((each) => each.unsupported !== undefined).length && (
          <p class="quiet">Sentences were left out that their sources do not support.</p>
        )}
      <StageTimes stages={question.stages} cost={answer?.cost} />
      {citations.length > 0 && <EvidenceList question={question} />}
      <CheckedFigures question={question} />
      {passages.length > 0 &&
        (question.again === undefined ? (
          <TraceSection passages={passages} trace={answer?.trace} />
        ) : (
          <details class="trace-details">
            <summary>How sources were chosen</summary>
            <TraceSection passages={passages} trace={answer?.trace} />
          </details>
        ))}
      {question.again === undefined && answer?.conversation !== undefined && (
        <FollowUpForm id={answer.conversation.id} />
      )}
    </article>
  )
}
