/** The sources of the answer. A quote is shown where the answer does not repeat it. */
import { hasSameWords, isMarkdown, plainText } from "../markdown/plainText.ts"
import type { QuestionState } from "../questions/questions.ts"
import { FigureImage } from "../source/FigureImage.tsx"
import { figureLabel, locationText, openCitation, source } from "../source/source.ts"

type Citations = QuestionState["citations"]

/** The first citation of a figure shows its image. */
const showsImage = (citations: Citations, { figure, n }: Citations[number]): boolean =>
  figure?.crop !== undefined && citations.find((each) => each.figure?.crop === figure.crop)?.n === n

export const EvidenceList = ({ question }: { readonly question: QuestionState }) => {
  const { citations, collection, sentences } = question
  const isRepeated = (quote: string) =>
    sentences.some(({ text }) => text.includes(quote) || hasSameWords(text, quote))
  return (
    <section class="evidence" aria-labelledby="evidence-title">
      <h2 id="evidence-title">Evidence</h2>
      <ol>
        {citations.map((citation) => (
          <li key={citation.n}>
            <button
              type="button"
              aria-pressed={source.value?.n === citation.n}
              onClick={() => openCitation(citation)}
            >
              <span class="number">{citation.n}</span>
              <span class="place">
                {citation.figure !== undefined && <b>{figureLabel(citation.figure)}, </b>}
                {locationText(citation.title, citation.headings, citation.page)}
              </span>
              {citation.figure !== undefined && showsImage(citations, citation) && (
                <FigureImage
                  collection={collection}
                  documentId={citation.documentId}
                  figure={citation.figure}
                />
              )}
              {citation.seen === true && <span class="quote">Read in the image.</span>}
              {!isRepeated(citation.quote) && (
                <span class="quote">{plainText(citation.quote, isMarkdown(citation.document))}</span>
              )}
            </button>
          </li>
        ))}
      </ol>
      <p class="quiet keys">
        <kbd>J</kbd> <kbd>K</kbd> next and previous citation, <kbd>Esc</kbd> close the source.
      </p>
    </section>
  )
}
