const canvas = document.createElement("canvas").getContext("2d")

/** Width of a text in the reading face at size 1. */
export const naturalWidth = (text: string): number => {
  if (canvas === null) return text.length * 0.45
  canvas.font = "100px Newsreader, serif"
  return canvas.measureText(text).width / 100
}
