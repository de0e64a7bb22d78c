/** The answer: each sentence with the numbers of its citations. */
import type { Citation } from "../../contract/index.ts"
import { hasSameWords, isMarkdown, sentenceRuns, type TextRun } from "../markdown/inline.ts"
import { TextRuns } from "../markdown/TextRuns.tsx"
import type { QuestionState } from "../questions/questions.ts"
import { openCitation, source } from "../source/source.ts"

/** Opens the source at the quote. */
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

/** Splits off the last word: the numbers stay on its line. */
const splitLastWord = (
  text: string,
  runs: ReadonlyArray<TextRun>
): [ReadonlyArray<TextRun>, ReadonlyArray<TextRun>] => {
  const last = runs.at(-1)
  if (last === undefined) return [runs, []]
  const word = Math.max(last.start, text.lastIndexOf(" ", last.end - 1) + 1)
  if (last.end - word > LONGEST_WORD || text.slice(word, last.end).trim() === "") return [runs, []]
  return [[...runs.slice(0, -1), { ...last, end: word }], [{ ...last, start: word }]]
}

/** Whether a quote is rows of a table, whose line breaks matter. */
const isTable = (quote: string): boolean => quote.includes("\n") && quote.includes(" | ")

interface SentenceProps {
  readonly sentence: QuestionState["sentences"][number]
  readonly citations: QuestionState["citations"]
}

const Sentence = ({ citations, sentence }: SentenceProps) => {
  const words = sentence.text.replace(/(\s*\[\d+\])+\s*$/, "")
  const cited = sentence.citations.map((n) => ({ n, citation: citations.find((each) => each.n === n) }))
  const table = cited.find(
    ({ citation }) => citation && isTable(citation.quote) && hasSameWords(citation.quote, words)
  )
  const text = table?.citation?.quote ?? words
  const markdown = cited.some(({ citation }) => citation !== undefined && isMarkdown(citation.document))
  const [most, lastWord] = splitLastWord(text, sentenceRuns(text, markdown))
  return (
    <span class="sentence" data-rows={table !== undefined}>
      <TextRuns text={text} runs={most} />
      <span class="no-break">
        <TextRuns text={text} runs={lastWord} />
        {cited.map(({ citation, n }) => (
          <CitationButton key={n} n={n} citation={citation} />
        ))}
      </span>{" "}
    </span>
  )
}

export const Sentences = ({ question }: { readonly question: QuestionState }) => (
  <p class="answer" aria-busy={question.state === "asking"}>
    {question.sentences.map((sentence, at) => (
      <Sentence key={at} sentence={sentence} citations={question.citations} />
    ))}
  </p>
)
