import type { PassageFigure } from "../../contract/index.ts"

/** `Figure 3`, `Table IV`; without a number, what it is. */
export const figureName = (figure: Pick<PassageFigure, "kind" | "number"> | undefined): string => {
  const kind = figure?.kind === "table" ? "Table" : "Figure"
  return figure?.number === undefined ? kind : `${kind} ${figure.number}`
}
