/** The figures and tables that a vision model checked for the question. */
import type { QuestionState } from "../questions/questions.ts"
import { FigureImage, VisionText } from "../source/FigureImage.tsx"
import { figureLabel, figureStop, openFigure, source } from "../source/source.ts"

interface CardProps {
  readonly collection: string
  readonly look: QuestionState["checked"][number]
}

const Card = ({ collection, look }: CardProps) => {
  const { document, documentId, failed, figure, said } = look
  const place = figure.page === undefined ? document : `${document}, p. ${figure.page}`
  return (
    <li>
      <button
        type="button"
        aria-pressed={source.value?.stop === figureStop(look)}
        aria-label={`${figureLabel(figure)}, ${place}: open the source`}
        onClick={() => openFigure(look)}
      >
        <FigureImage collection={collection} documentId={documentId} figure={figure} />
      </button>
      <div>
        <h3>
          {figureLabel(figure)} <span class="place">{place}</span>
        </h3>
        {figure.caption !== "" && <p class="caption">{figure.caption}</p>}
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
  return (
    <section class="looks" aria-labelledby="looks-title">
      <h2 id="looks-title">
        {tables === 0
          ? "Figures checked"
          : tables === checked.length
            ? "Tables checked"
            : "Figures and tables checked"}
      </h2>
      <ul>
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
