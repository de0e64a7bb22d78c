/** The image of a figure or a table, and what a vision model saw in it. */
import { useState } from "preact/hooks"
import type { PassageFigure } from "../../contract/index.ts"
import { withCollection } from "../api/request.ts"
import { type OpenSource } from "./source.ts"
import { captionText, figureLabel } from "../ui/format.ts"
import { LinkButton, NewTabLink } from "../ui/Button.tsx"

/** Width by height of most charts, used where the figure's box is not known. */
const USUAL_SHAPE = 4 / 3
const shapeOf = ({ box }: PassageFigure): number => {
  if (box === undefined) return USUAL_SHAPE
  const [x0, y0, x1, y1] = box
  const shape = (x1 - x0) / (y1 - y0)
  return shape > 0 && Number.isFinite(shape) ? Math.min(8, Math.max(0.25, shape)) : USUAL_SHAPE
}

const cropHref = (collection: string, documentId: string, crop: string): string =>
  withCollection(collection, `/documents/${documentId}/figures/${crop}/crop`)

interface ImageProps {
  readonly collection: string
  readonly documentId: string
  readonly figure: PassageFigure
}

/** Its room is reserved while it loads. */
export const FigureImage = ({ collection, documentId, figure }: ImageProps) => {
  const [state, setState] = useState<"loading" | "shown" | "failed">("loading")
  if (figure.crop === undefined) return null
  return (
    <span class="crop" data-state={state} style={{ aspectRatio: shapeOf(figure) }}>
      {state === "failed" ? (
        <span class="quiet">The image could not be loaded.</span>
      ) : (
        <img
          src={cropHref(collection, documentId, figure.crop)}
          alt={figure.caption || figureLabel(figure)}
          loading="lazy"
          decoding="async"
          onLoad={() => setState("shown")}
          onError={() => setState("failed")}
        />
      )}
    </span>
  )
}

/** A longer text is collapsed. */
const SHORT = { characters: 320, lines: 5 } as const

export const VisionText = ({ text }: { readonly text: string }) => {
  const [expanded, setExpanded] = useState(false)
  const isShort = text.length <= SHORT.characters && text.split("\n").length <= SHORT.lines
  return (
    <>
      <p class="vision-text" data-expanded={expanded || isShort}>
        {text}
      </p>
      {!isShort && (
        <LinkButton aria-expanded={expanded} onClick={() => setExpanded(!expanded)}>
          {expanded ? "Show less" : "Show all"}
        </LinkButton>
      )}
    </>
  )
}

/** Width by height: a wider figure is too small to read beside its caption. */
const WIDE = 2.5

interface CardProps {
  readonly shown: OpenSource
  readonly figure: PassageFigure
  /** Whether the image is shown here, and not by the page below. */
  readonly withImage: boolean
}

/** The figure of the source, above its page. */
export const FigureCard = ({ figure, shown, withImage }: CardProps) =>
  !withImage && shown.seen === undefined && captionText(figure) === "" ? null : (
    <figure class="figure-card" data-wide={withImage && shapeOf(figure) > WIDE}>
      {withImage && figure.crop !== undefined && (
        <NewTabLink
          href={cropHref(shown.collection, shown.documentId, figure.crop)}
          aria-label={`Open ${figureLabel(figure)} as an image`}
        >
          <FigureImage collection={shown.collection} documentId={shown.documentId} figure={figure} />
        </NewTabLink>
      )}
      <figcaption class="stack">
        <p class="caption clamped">{captionText(figure)}</p>
        {shown.seen !== undefined && (
          <>
            <p class="quiet">What the model saw</p>
            <VisionText text={shown.seen} />
          </>
        )}
      </figcaption>
    </figure>
  )
