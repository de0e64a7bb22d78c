/** Figures that were looked at for the question, each with its picture and what was seen in it. */
import type { Asked } from "../questions/questions.ts"
import { figureName } from "../source/figureName.ts"
import { openLook, source } from "../source/source.ts"
import { Crop } from "../source/FigureImage.tsx"
import { Said } from "../source/Said.tsx"

type Look = Asked["looks"][number]

const Seen = ({ collection, look }: { readonly collection: string; readonly look: Look }) => {
  const { document, documentId, failed, figure, passageId, said } = look
  const place = figure.page === undefined ? document : `${document}, p. ${figure.page}`
  return (
    <li>
      <button
        type="button"
        aria-pressed={source.value?.stop === `figure ${passageId}`}
        aria-label={`${figureName(figure)}, ${place}: open the source`}
        onClick={() => openLook(look)}
      >
        <Crop collection={collection} documentId={documentId} figure={figure} />
      </button>
      <div>
        <h3>
          {figureName(figure)} <span class="place">{place}</span>
        </h3>
        {figure.caption !== "" && <p class="caption">{figure.caption}</p>}
        {failed === undefined ? (
          <Said text={said} />
        ) : (
          <p class="problem">It could not be looked at: {failed}</p>
        )}
      </div>
    </li>
  )
}

export const Looks = ({ asked: { answer, collection, looks } }: { readonly asked: Asked }) =>
  looks.length === 0 ? null : (
    <section class="looks" aria-labelledby="looks-title">
      <h2 id="looks-title">Figures looked at</h2>
      <ul>
        {looks.map((look) => (
          <Seen key={look.passageId} collection={collection} look={look} />
        ))}
      </ul>
      {answer?.trace.visionModel !== undefined && (
        <p class="quiet">
          What {answer.trace.visionModel} said of each when it was asked the question. Only what is cited
          above is checked against the source.
        </p>
      )}
    </section>
  )
