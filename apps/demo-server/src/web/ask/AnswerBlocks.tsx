/** The sentences of an answer with their citations, as paragraphs, lists and tables. */
import type { Citation } from "../../contract/index.ts"
import { hasSameWords, isMarkdown, sentenceRuns, type TextRun } from "../markdown/inline.ts"
import { TextRuns } from "../markdown/TextRuns.tsx"
import type { QuestionState } from "../questions/questions.ts"
import { openCitation, source } from "../source/source.ts"

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

type AnswerSentence = QuestionState["sentences"][number]

const Sentence = ({ question, sentence }: Props & { sentence: AnswerSentence }) => {
  const words = sentence.text.replace(/(?<!\s|\[\d+\])(\s*\[\d+\])+\s*$/, "")
  const cited = question.citations.filter(({ n }) => sentence.citations.includes(n))
  const table = cited.find(({ quote }) => isTable(quote) && hasSameWords(quote, words))
  const text = table?.quote ?? words
  // A model that writes its own words writes Markdown.
  const markdown = cited.some(({ document, quote }) => isMarkdown(document) || !quote.includes(words))
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
        <span class="problem unsupported">Not supported by its sources: {sentence.unsupported} </span>
      )}
    </span>
  )
}

const ITEM = /^(?:[-*+•]|(\d{1,3})[.)])\s+/

const kindOf = ({ text }: AnswerSentence): "p" | "ul" | "ol" | "table" => {
  const item = ITEM.exec(text)
  return text.startsWith("|") ? "table" : item === null ? "p" : item[1] === undefined ? "ul" : "ol"
}

/** The cells of each row, without the line below the head. */
const rowsOf = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  text
    .split("\n")
    .filter((line) => !/^[|:\s-]+$/.test(line))
    .map((line) => line.replaceAll(/^\s*\||\|\s*$/g, "").split("|"))

/** The last row is the sentence. Rows before it are the head of the table. */
const Rows = ({ question, sentence }: Props & { sentence: AnswerSentence }) => {
  const rows = rowsOf(sentence.text)
  return rows.map((cells, row) => (
    <tr key={row}>
      {cells.map((cell, at) =>
        row < rows.length - 1 ? (
          <th key={at} scope="col">
            {cell.trim()}
          </th>
        ) : (
          <td key={at}>
            {at < cells.length - 1 ? (
              cell.trim()
            ) : (
              <Sentence question={question} sentence={{ ...sentence, text: cell.trim() }} />
            )}
          </td>
        )
      )}
    </tr>
  ))
}

export const AnswerBlocks = ({ question }: Props) => {
  const blocks: Array<[AnswerSentence, ...Array<AnswerSentence>]> = []
  for (const sentence of question.sentences) {
    const last = blocks.at(-1)
    if (last !== undefined && kindOf(last[0]) === kindOf(sentence)) last.push(sentence)
    else blocks.push([sentence])
  }
  return blocks.map((sentences, block) => {
    const Block = kindOf(sentences[0])
    const parts = sentences.map((sentence, at) => {
      if (Block === "table") return <Rows key={at} question={question} sentence={sentence} />
      const shown = (
        <Sentence
          key={at}
          question={question}
          sentence={{ ...sentence, text: sentence.text.replace(ITEM, "") }}
        />
      )
      // A sentence that was left out leaves a gap in the numbers.
      const number = ITEM.exec(sentence.text)?.[1]
      return Block === "p" ? (
        shown
      ) : (
        <li key={at} value={number}>
          {shown}
        </li>
      )
    })
    return <Block key={block}>{parts}</Block>
  })
}
