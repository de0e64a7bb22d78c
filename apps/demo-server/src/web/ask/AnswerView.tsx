/** A question and all that came of it: sentences, evidence, the way they came. */
import { useLayoutEffect, useRef } from "preact/hooks"
import type { Asked } from "../questions/questions.ts"
import { Evidence } from "./EvidenceList.tsx"
import { Failed } from "./Failed.tsx"
import { Looks } from "./CheckedFigures.tsx"
import { NothingFound } from "./NoAnswer.tsx"
import { Sentences } from "./Sentences.tsx"
import { StageTimes } from "../trace/StageTimes.tsx"
import { TraceFigure } from "../trace/TraceSection.tsx"
import { Waiting } from "./Waiting.tsx"

export const AnswerView = ({ asked }: { readonly asked: Asked }) => {
  const { answer, citations, collection, failure, passages, question, stages, state, within } = asked
  const title = useRef<HTMLHeadingElement>(null)
  // Whoever asked stands before the answer: the next Tab is its first citation.
  useLayoutEffect(() => title.current?.focus({ preventScroll: true }), [])
  return (
    <article class="result" data-state={state}>
      <h1 ref={title} tabIndex={-1}>
        {question}
      </h1>
      {within !== undefined && <p class="quiet within">Asked of {within}</p>}
      {failure !== undefined && <Failed asked={asked} />}
      {answer?.found === false ? (
        <NothingFound answer={answer} collection={collection} within={within} />
      ) : (
        <Sentences asked={asked} />
      )}
      {state === "asking" && <Waiting asked={asked} />}
      {answer !== undefined && answer.dropped > 0 && (
        <p class="quiet">
          {answer.dropped === 1 ? "One sentence was" : `${answer.dropped} sentences were`} left out: the quote
          did not stand in the source.
        </p>
      )}
      <StageTimes stages={stages} cost={answer?.cost} />
      {citations.length > 0 && <Evidence asked={asked} />}
      <Looks asked={asked} />
      {passages.length > 0 && <TraceFigure passages={passages} trace={answer?.trace} />}
    </article>
  )
}
