/** A document as text, scrolled to the quote. */
import { useLayoutEffect, useMemo, useRef } from "preact/hooks"
import type { DocumentText } from "../../contract/index.ts"
import { readableBlock, type ReadableBlock } from "../markdown/blocks.ts"
import type { TextRun } from "../markdown/inline.ts"
import { TextRuns, type TextMark } from "../markdown/TextRuns.tsx"
import { Scroller } from "../ui/DataTable.tsx"
import type { OpenSource } from "./source.ts"

/** Blocks near the window get their real size in the next frame and move the quote. One more frame was enough so far. */
const FRAMES = 4

/**
 * Scrolls to the first marked part, to the middle (`center`) or just into view (`nearest`). Without a mark it scrolls to
 * the top of the document.
 */
export const scrollToQuote = (body: Element | null, block: "center" | "nearest" = "center"): void => {
  const quote = body?.querySelector("mark, .cited")
  if (!quote) return body?.closest(".source")?.scrollTo({ top: 0 })
  const scroll = (left: number) => {
    // Its first word is in view, also where the quote is wider than a phone.
    quote.scrollIntoView({ block, inline: "start" })
    if (left > 0) requestAnimationFrame(() => scroll(left - 1))
  }
  scroll(FRAMES)
}

const Block = ({ block, mark, text }: { text: string; block: ReadableBlock; mark?: TextMark }) => {
  const show = (runs: ReadonlyArray<TextRun>) => <TextRuns text={text} runs={runs} mark={mark} />
  switch (block.kind) {
    case "heading": {
      const Heading = `h${Math.min(6, block.level + 2)}` as "h3"
      return <Heading class={`level-${block.level}`}>{show(block.runs)}</Heading>
    }
    case "paragraph":
      return <p>{show(block.runs)}</p>
    case "quotation":
      return <blockquote>{show(block.runs)}</blockquote>
    case "list":
      return (
        <ul>
          {block.items.map((item, at) => (
            <li key={at} data-marker={item.marker || "–"} style={{ "--depth": item.depth }}>
              {show(item.runs)}
            </li>
          ))}
        </ul>
      )
    case "table":
      return (
        <Scroller class="wide" label="Table">
          <table>
            <tbody>
              {block.rows.map((cells, row) => {
                const Cell = row === block.head ? "th" : "td"
                return (
                  <tr key={row}>
                    {cells.map((runs, column) => (
                      <Cell key={column} colSpan={cells.length === 1 ? block.columns : 1}>
                        {show(runs)}
                      </Cell>
                    ))}
                  </tr>
                )
              })}
            </tbody>
          </table>
        </Scroller>
      )
    case "code":
      return (
        <Scroller class="wide listing" label="Code">
          <pre>
            <code>{show([block])}</code>
          </pre>
        </Scroller>
      )
  }
}

/** For a document in which the parser found no blocks. */
const wholeText = ({ text }: DocumentText) => [{ kind: "code" as const, start: 0, end: text.length }]

export const SourceText = ({ shown: { mark }, text }: { shown: OpenSource; text: DocumentText }) => {
  const body = useRef<HTMLElement>(null)
  const { document } = text
  const blocks = text.blocks.length > 0 ? text.blocks : wholeText(text)
  const show = (block: (typeof blocks)[number], at: number, marked?: TextMark) => (
    <Block key={at} block={readableBlock(text.text, document.format, block)} text={text.text} mark={marked} />
  )
  // In a long document, only the marked blocks are rendered again from citation to citation.
  const unmarked = useMemo(() => blocks.map((block, at) => show(block, at)), [text])
  // A layout effect: the top is not shown first.
  useLayoutEffect(() => scrollToQuote(body.current), [mark, text])
  return (
    <section
      class="source-body prose"
      data-format={document.format}
      dir="auto"
      ref={body}
      aria-label="Text of the document"
    >
      {blocks.map((block, at) =>
        mark !== undefined && block.start < mark.end && block.end > mark.start
          ? show(block, at, mark)
          : unmarked[at]
      )}
    </section>
  )
}
