/** The passages that are shown where there is no sure answer, with the words of the question marked. */
import type { AnswerBody } from "../../contract/Answer.ts"
import { openPassage, source } from "../source/source.ts"
import { locationText } from "../ui/format.ts"

type Closest = AnswerBody["closest"][number]

/** The headings that a passage of Markdown begins with: its location has them. */
const HEADINGS = /^(?:#{1,6} .*\n\s*)*(?:\|[ \t]*)?/

/** Rows of Markdown tables as cells on one line, without what draws the table. */
const withoutRules = (text: string): string =>
  text
    .replaceAll(/\n[|\s:-]*-{3}[|\s:-]*(?=\n|$)/g, "")
    .replaceAll(/(?<=\n)\|[ \t]*/g, "")
    .replaceAll(/(?<![ \t])[ \t]*\|(?=\n)/g, " ·")

const MarkedText = ({ matches, passage: { text } }: Closest) => {
  const [{ length: first }] = HEADINGS.exec(text) ?? [""]
  const shown = matches.filter(({ start }) => start >= first)
  return (
    <span class="quote clamped">
      {shown.map(({ end, start }, at) => (
        <>
          {withoutRules(text.slice(shown[at - 1]?.end ?? first, start))}
          <mark>{text.slice(start, end)}</mark>
        </>
      ))}
      {withoutRules(text.slice(shown.at(-1)?.end ?? first)).replace(/(?<![ \t])[ \t]*\|\s*$/, "")}
    </span>
  )
}

export const ClosestPassages = ({ closest }: { readonly closest: ReadonlyArray<Closest> }) => (
  <section class="evidence closest" aria-label="Closest passages">
    <ol class="lines closed">
      {closest.map(({ matches, passage }) => (
        <li key={passage.id}>
          <button
            type="button"
            aria-pressed={source.value?.passageId === passage.id}
            onClick={() => openPassage({ passage })}
          >
            <span class="location quiet">{locationText(passage.document.title, passage)}</span>
            <MarkedText passage={passage} matches={matches} />
          </button>
        </li>
      ))}
    </ol>
  </section>
)
