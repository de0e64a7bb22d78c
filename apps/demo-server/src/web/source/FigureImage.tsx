/** The picture of a figure or a table, in room that is kept for it. */
import { useState } from "preact/hooks"
import type { PassageFigure } from "../../contract/index.ts"
import { pathIn } from "../api/collectionPath.ts"
import { figureName } from "./figureName.ts"

interface Props {
  readonly collection: string
  readonly documentId: string
  readonly figure: PassageFigure
}

/** Width by height; of one that is not known, that of most charts. */
const USUAL_SHAPE = 4 / 3
export const shapeOf = ({ box }: PassageFigure): number => {
  if (box === undefined) return USUAL_SHAPE
  const [x0, y0, x1, y1] = box
  const shape = (x1 - x0) / (y1 - y0)
  return shape > 0 && Number.isFinite(shape) ? Math.min(8, Math.max(0.25, shape)) : USUAL_SHAPE
}

export const cropHref = (collection: string, documentId: string, crop: string): string =>
  pathIn(collection, `/documents/${documentId}/figures/${crop}/crop`)

export const Crop = ({ collection, documentId, figure }: Props) => {
  const [state, setState] = useState<"loading" | "shown" | "failed">("loading")
  if (figure.crop === undefined) return null
  const name = figureName(figure)
  return (
    <span class="crop" data-state={state} style={{ aspectRatio: shapeOf(figure) }}>
      {state === "failed" ? (
        <span class="quiet">The picture could not be loaded.</span>
      ) : (
        <img
          src={cropHref(collection, documentId, figure.crop)}
          alt={figure.caption === "" ? name : figure.caption}
          loading="lazy"
          decoding="async"
          onLoad={() => setState("shown")}
          onError={() => setState("failed")}
        />
      )}
    </span>
  )
}
