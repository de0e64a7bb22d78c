/** The figure that is cited or was looked at, above its page: its picture, its caption, what was seen in it. */
import type { PassageFigure } from "../../contract/index.ts"
import { figureName } from "./figureName.ts"
import type { Source } from "./source.ts"
import { Crop, cropHref, shapeOf } from "./FigureImage.tsx"
import { Said } from "./Said.tsx"

/** Width by height of what would be too small to read beside its caption. */
const WIDE = 2.5

interface Props {
  readonly shown: Source
  readonly figure: PassageFigure
  /** Whether the picture is shown here, and not by the page below. */
  readonly pictured: boolean
}

export const FigureCard = ({ figure, pictured, shown }: Props) =>
  !pictured && shown.said === undefined && figure.caption === "" ? null : (
    <figure class="figure-card" data-wide={pictured && shapeOf(figure) > WIDE}>
      {pictured && figure.crop !== undefined && (
        <a
          href={cropHref(shown.collection, shown.documentId, figure.crop)}
          target="_blank"
          rel="noreferrer"
          aria-label={`${figureName(figure)} as a picture of its own`}
        >
          <Crop collection={shown.collection} documentId={shown.documentId} figure={figure} />
        </a>
      )}
      <figcaption>
        {figure.caption !== "" && <p class="caption">{figure.caption}</p>}
        {shown.said !== undefined && (
          <>
            <p class="quiet">Asked the question, the picture says</p>
            <Said text={shown.said} />
          </>
        )}
      </figcaption>
    </figure>
  )
