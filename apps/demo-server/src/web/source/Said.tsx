/** What was seen in a picture. A reading of all that stands in it may be long: its beginning is enough until asked for. */
import { useState } from "preact/hooks"

/** Characters and lines that are short enough to be shown whole. */
const SHORT = { characters: 320, lines: 5 } as const

const isShort = (text: string): boolean =>
  text.length <= SHORT.characters && text.split("\n").length <= SHORT.lines

export const Said = ({ text }: { readonly text: string }) => {
  const [whole, setWhole] = useState(false)
  const short = isShort(text)
  return (
    <>
      <p class="said" data-whole={whole || short}>
        {text}
      </p>
      {!short && (
        <button class="link" type="button" aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? "Less of it" : "All of it"}
        </button>
      )}
    </>
  )
}
