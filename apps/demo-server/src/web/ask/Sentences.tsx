/** The answer: each sentence, and the numbers of what it stands on. */
import type { Run } from "../markdown/inline.ts"
import { isMarkdown, sameWords, sentenceRuns } from "../markdown/plainText.ts"
import type { Asked } from "../questions/questions.ts"
import { CitationButton } from "./CitationButton.tsx"
import { Runs } from "../markdown/TextRuns.tsx"

/** Longer words may break away from their numbers: scripts without spaces are one long word. */
const LONGEST_WORD = 24

/** The numbers stay on the line of the last word. */
const withoutLastWord = (
  text: string,
  runs: ReadonlyArray<Run>
): [ReadonlyArray<Run>, ReadonlyArray<Run>] => {
  const last = runs.at(-1)
  if (last === undefined) return [runs, []]
  const word = Math.max(last.start, text.lastIndexOf(" ", last.end - 1) + 1)
  if (last.end - word > LONGEST_WORD || text.slice(word, last.end).trim() === "") return [runs, []]
  return [[...runs.slice(0, -1), { ...last, end: word }], [{ ...last, start: word }]]
}

/** Rows of a table, whose lines mean something. */
const isTable = (quote: string): boolean => quote.includes("\n") && quote.includes(" | ")

interface Props {
  readonly sentence: Asked["sentences"][number]
  readonly citations: Asked["citations"]
}

const Sentence = ({ citations, sentence }: Props) => {
  const words = sentence.text.replace(/(\s*\[\d+\])+\s*$/, "")
  const cited = sentence.citations.map((n) => ({ n, citation: citations.find((each) => each.n === n) }))
  const table = cited.find(
    ({ citation }) => citation && isTable(citation.quote) && sameWords(citation.quote, words)
  )
  const text = table?.citation?.quote ?? words
  const markdown = cited.some(({ citation }) => citation !== undefined && isMarkdown(citation.document))
  const [most, word] = withoutLastWord(text, sentenceRuns(text, markdown))
  return (
    <span class="sentence" data-rows={table !== undefined}>
      <Runs text={text} runs={most} mark={undefined} />
      <span class="together">
        <Runs text={text} runs={word} mark={undefined} />
        {cited.map(({ citation, n }) => (
          <CitationButton key={n} n={n} citation={citation} />
        ))}
      </span>{" "}
    </span>
  )
}

export const Sentences = ({ asked }: { readonly asked: Asked }) => (
  <p class="answer" aria-busy={asked.state === "asking"}>
    {asked.sentences.map((sentence, at) => (
      <Sentence key={at} sentence={sentence} citations={asked.citations} />
    ))}
  </p>
)
