/** A question and its answer: sentences, evidence, and the trace. */
import { useLayoutEffect, useRef } from "preact/hooks"
import type { Citation } from "../../contract/index.ts"
import { collectionSize } from "../documents/collections.tsx"
import { hasSameWords, isMarkdown, sentenceRuns, type TextRun } from "../markdown/inline.ts"
import { TextRuns } from "../markdown/TextRuns.tsx"
import { askAgain, type QuestionState, stopQuestion, willRetry } from "../questions/questions.ts"
import { openCitation, source } from "../source/source.ts"
import { StageTimes, TraceSection } from "../trace/TraceSection.tsx"
import { Button, LinkButton } from "../ui/Button.tsx"
import { pluralize } from "../ui/format.ts"
import { ClosestPassages } from "./ClosestPassages.tsx"
import { CheckedFigures, EvidenceList } from "./EvidenceList.tsx"

type Props = { readonly question: QuestionState }

const CitationButton = ({ citation, n }: { n: number; citation: Citation | undefined }) => (
  <button
    class="citation"
    type="button"
    aria-label={citation === undefined ? `Citation ${n}` : `Citation ${n}, ${citation.title}`}
    aria-pressed={source.value?.n === n}
    disabled={citation === undefined}
    onClick={() => citation !== undefined && openCitation(citation)}
  >
    {n}
  </button>
)

/** Longer words may break away from their numbers: text in scripts without spaces is one long word. */
const LONGEST_WORD = 24

type Runs = ReadonlyArray<TextRun>

/** Splits off the last word: the numbers stay on its line. */
const splitLastWord = (text: string, runs: Runs): [Runs, Runs] => {
  const last = runs.at(-1)
  if (last === undefined) return [runs, []]
  const word = Math.max(last.start, text.lastIndexOf(" ", last.end - 1) + 1)
  if (last.end - word > LONGEST_WORD || text.slice(word, last.end).trim() === "") return [runs, []]
  return [[...runs.slice(0, -1), { ...last, end: word }], [{ ...last, start: word }]]
}

/** Whether a quote is rows of a table, whose line breaks matter. */
const isTable = (quote: string): boolean => quote.includes("\n") && quote.includes(" | ")

const Sentence = ({ question, sentence }: Props & { sentence: QuestionState["sentences"][number] }) => {
  const words = sentence.text.replace(/(\s*\[\d+\])+\s*$/, "")
  const cited = question.citations.filter(({ n }) => sentence.citations.includes(n))
  const table = cited.find(({ quote }) => isTable(quote) && hasSameWords(quote, words))
  const text = table?.quote ?? words
  const markdown = cited.some(({ document }) => isMarkdown(document))
  const [most, lastWord] = splitLastWord(text, sentenceRuns(text, markdown))
  return (
    <span class="sentence" data-rows={table !== undefined}>
      <TextRuns text={text} runs={most} />
      <span class="no-break">
        <TextRuns text={text} runs={lastWord} />
        {sentence.citations.map((n) => (
          <CitationButton key={n} n={n} citation={cited.find((each) => each.n === n)} />
        ))}
      </span>{" "}
      {sentence.unsupported !== undefined && (
        <span class="unsupported">Not supported by its sources: {sentence.unsupported} </span>
      )}
    </span>
  )
}

const Failed = ({ question }: Props) => (
  <div class="failed" role="alert">
    <p>
      {question.error?.message}
      {willRetry(question) && " Your question will be sent again automatically."}
    </p>
    <Button onClick={() => askAgain(question)}>Ask again</Button>
  </div>
)

const Progress = ({ question }: Props) => (
  <>
    <div class="loading-bar" />
    <p class="waiting quiet">
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
  if (filterText !== undefined) return `Nothing matches your filter: ${filterText}.`
  return (collectionSize.value.passages ?? 0) > 0 ? "No passage matches." : "There are no documents yet."
}

/** The model's response could not be read: the documents may well answer. */
const Unread = ({ question }: Props) => {
  const { closest = [], notRead } = question.answer ?? {}
  return (
    <div class="failed" role="alert">
      <p>
        <b>The answer could not be read.</b> {notRead?.message} {notRead?.advice}
      </p>
      <Button onClick={() => askAgain(question)}>Ask again</Button>
      {closest.length > 0 && <ClosestPassages closest={closest} />}
    </div>
  )
}

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
  const title = useRef<HTMLHeadingElement>(null)
  // The next press of Tab goes to the first citation.
  useLayoutEffect(() => title.current?.focus({ preventScroll: true }), [])
  return (
    <article class="result" data-state={state}>
      <h1 ref={title} tabIndex={-1}>
        {question.question}
      </h1>
      {question.filterText !== undefined && (
        <p class="quiet filter-text">Searched in {question.filterText}</p>
      )}
      {question.error !== undefined && <Failed question={question} />}
      {answer?.outcome === "unread" ? (
        <Unread question={question} />
      ) : answer?.found === false ? (
        <NoAnswer question={question} />
      ) : (
        <p class="answer" aria-busy={state === "asking"}>
          {question.sentences.map((sentence, at) => (
            <Sentence key={at} sentence={sentence} question={question} />
          ))}
          {question.draft !== "" && <span class="draft">{question.draft}</span>}
        </p>
      )}
      {state === "asking" && <Progress question={question} />}
      {answer?.found === true && answer.notRead !== undefined && (
        <p class="problem">
          This answer is incomplete. {answer.notRead.message} {answer.notRead.advice}
        </p>
      )}
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
      {passages.length > 0 && <TraceSection passages={passages} trace={answer?.trace} />}
    </article>
  )
}
