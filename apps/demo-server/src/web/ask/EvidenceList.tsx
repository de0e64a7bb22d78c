/** The sources of the answer, and the figures and tables that a vision model checked for it. */
import type { Citation } from "../../contract/index.ts"
import { hasSameWords, isMarkdown, plainText } from "../markdown/inline.ts"
import type { QuestionState } from "../questions/questions.ts"
import { FigureImage, VisionText } from "../source/FigureImage.tsx"
import { figureStop, openCitation, openFigure, source } from "../source/source.ts"
import { captionText, figureLabel, locationText } from "../ui/format.ts"

/** A quote is shown where the answer does not repeat it. */
export const EvidenceList = ({ question }: { readonly question: QuestionState }) => {
  const { citations, collection, sentences } = question
  const isRepeated = (quote: string) =>
    sentences.some(({ text }) => text.includes(quote) || hasSameWords(text, quote))
  /** The first citation of a figure shows its image. */
  const isFirst = ({ figure, n }: Citation) =>
    citations.find((each) => each.figure?.crop === figure?.crop)?.n === n
  return (
    <section class="evidence" aria-labelledby="evidence-title">
      <h2 id="evidence-title">Evidence</h2>
      <ol class="lines closed">
        {citations.map((citation) => (
          <li key={citation.n}>
            <button
              type="button"
              aria-pressed={source.value?.n === citation.n}
              onClick={() => openCitation(citation)}
            >
              <span class="number">{citation.n}</span>
              <span class="location quiet">
                {citation.figure !== undefined && <b>{figureLabel(citation.figure)}, </b>}
                {locationText(citation.title, citation)}
              </span>
              {citation.figure !== undefined && isFirst(citation) && (
                <FigureImage {...citation} collection={collection} figure={citation.figure} />
              )}
              {citation.quoted === "matched" && (
                <span class="quiet">Found by Sluice: the model gave no quote.</span>
              )}
              {citation.seen === true && <span class="quote clamped">Read in the image.</span>}
              {!isRepeated(citation.quote) && (
                <span class="quote clamped">{plainText(citation.quote, isMarkdown(citation.document))}</span>
              )}
            </button>
          </li>
        ))}
      </ol>
      <p class="quiet keys screen-only">
        <kbd>J</kbd> <kbd>K</kbd> next or previous citation, <kbd>Esc</kbd> closes the source.
      </p>
    </section>
  )
}

const Card = ({ collection, look }: { collection: string; look: QuestionState["checked"][number] }) => {
  const { document, failed, figure, said } = look
  const place = figure.page === undefined ? document : `${document}, p. ${figure.page}`
  return (
    <li>
      <button
        type="button"
        aria-pressed={source.value?.stop === figureStop(look)}
        aria-label={`${figureLabel(figure)}, ${place}: open the source`}
        onClick={() => openFigure(look)}
      >
        <FigureImage {...look} collection={collection} />
      </button>
      <div class="stack tight">
        <h3>
          {figureLabel(figure)} <span class="location quiet">{place}</span>
        </h3>
        <p class="caption clamped">{captionText(figure)}</p>
        {failed === undefined ? (
          <VisionText text={said} />
        ) : (
          <p class="problem">This could not be checked: {failed}</p>
        )}
      </div>
    </li>
  )
}

export const CheckedFigures = ({ question }: { readonly question: QuestionState }) => {
  const { answer, checked, collection } = question
  const tables = checked.filter(({ figure }) => figure.kind === "table").length
  if (checked.length === 0) return null
  const kinds = tables === 0 ? "Figures" : tables === checked.length ? "Tables" : "Figures and tables"
  return (
    <section class="checked-figures" aria-labelledby="checked-figures-title">
      <h2 id="checked-figures-title">{kinds} checked</h2>
      <ul class="lines">
        {checked.map((look) => (
          <Card key={look.passageId} collection={collection} look={look} />
        ))}
      </ul>
      {answer?.trace.visionModel !== undefined && (
        <p class="quiet">
          Read by {answer.trace.visionModel}. Only citations are verified against the source.
        </p>
      )}
    </section>
  )
}
