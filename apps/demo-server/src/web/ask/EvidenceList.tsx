/** What the answer stands on: where each quote is, and the quote where the answer does not say it word for word. */
import { figureName } from "../source/figureName.ts"
import { isMarkdown, sameWords, visibleText } from "../markdown/plainText.ts"
import type { Asked } from "../questions/questions.ts"
import { openCitation, source } from "../source/source.ts"
import { Crop } from "../source/FigureImage.tsx"
import { placeOf } from "../source/placeOf.ts"

type Citations = Asked["citations"]

/** A picture that several citations stand on is shown with the first of them. */
const showsPicture = (citations: Citations, { figure, n }: Citations[number]): boolean =>
  figure?.crop !== undefined && citations.find((each) => each.figure?.crop === figure.crop)?.n === n

export const Evidence = ({ asked: { citations, collection, sentences } }: { readonly asked: Asked }) => (
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
              {citation.figure !== undefined && <b>{figureName(citation.figure)}, </b>}
              {placeOf(citation.title, citation.headings, citation.page)}
            </span>
            {citation.figure !== undefined && showsPicture(citations, citation) && (
              <Crop collection={collection} documentId={citation.documentId} figure={citation.figure} />
            )}
            {citation.seen === true && <span class="quote">Seen in the picture.</span>}
            {!sentences.some(
              ({ text }) => text.includes(citation.quote) || sameWords(text, citation.quote)
            ) && <span class="quote">{visibleText(citation.quote, isMarkdown(citation.document))}</span>}
          </button>
        </li>
      ))}
    </ol>
    <p class="quiet keys">
      <kbd>J</kbd> <kbd>K</kbd> step through the citations, <kbd>Esc</kbd> closes the source.
    </p>
  </section>
)
