/** A document as text, scrolled to the quote. */
import { useLayoutEffect, useMemo, useRef } from "preact/hooks"
import type { DocumentText } from "../../contract/index.ts"
import { readable, type Readable } from "../markdown/blocks.ts"
import type { Source } from "./source.ts"
import { scrollToQuote } from "./scrollToQuote.ts"
import { Runs } from "../markdown/TextRuns.tsx"
import { Scroller } from "../ui/Scroller.tsx"

interface Props {
  readonly shown: Source
  readonly text: DocumentText
}

interface BlockProps {
  readonly text: string
  readonly block: Readable
  readonly mark: Source["mark"]
}

const Block = ({ block, mark, text }: BlockProps) => {
  switch (block.kind) {
    case "heading": {
      const Heading = `h${Math.min(6, block.level + 2)}` as "h3"
      return (
        <Heading class={`level-${block.level}`}>
          <Runs text={text} runs={block.runs} mark={mark} />
        </Heading>
      )
    }
    case "paragraph":
      return (
        <p>
          <Runs text={text} runs={block.runs} mark={mark} />
        </p>
      )
    case "quotation":
      return (
        <blockquote>
          <Runs text={text} runs={block.runs} mark={mark} />
        </blockquote>
      )
    case "list":
      return (
        <ul>
          {block.items.map((item, at) => (
            <li key={at} data-marker={item.marker || "–"} style={{ "--depth": item.depth }}>
              <Runs text={text} runs={item.runs} mark={mark} />
            </li>
          ))}
        </ul>
      )
    case "table":
      return (
        <Scroller class="wide" label="Table">
          <table>
            <tbody>
              {block.rows.map((cells, row) => (
                <tr key={row}>
                  {cells.map((runs, column) => {
                    const Cell = row === block.head ? "th" : "td"
                    return (
                      <Cell key={column} colSpan={cells.length === 1 ? block.columns : 1}>
                        <Runs text={text} runs={runs} mark={mark} />
                      </Cell>
                    )
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroller>
      )
    case "code":
      return (
        <Scroller class="wide listing" label="Listing">
          <pre>
            <code>
              <Runs text={text} runs={[block]} mark={mark} />
            </code>
          </pre>
        </Scroller>
      )
  }
}

/** What a parser that found no blocks gives: all of the text, as it stands. */
const wholeText = ({ text }: DocumentText) => [{ kind: "code" as const, start: 0, end: text.length }]

export const SourceText = ({ shown: { mark }, text }: Props) => {
  const body = useRef<HTMLElement>(null)
  const { document } = text
  const blocks = text.blocks.length > 0 ? text.blocks : wholeText(text)
  // Of a long document only the blocks that are marked are rendered again from citation to citation.
  const unmarked = useMemo(
    () =>
      blocks.map((block, at) => (
        <Block
          key={at}
          block={readable(text.text, document.format, block)}
          text={text.text}
          mark={undefined}
        />
      )),
    [text]
  )
  // Before it is seen: not the top first.
  useLayoutEffect(() => scrollToQuote(body.current), [mark, text])
  return (
    <section
      class="source-body prose"
      data-format={document.format}
      dir="auto"
      ref={body}
      aria-label="Text of the document"
    >
      {mark === undefined
        ? unmarked
        : blocks.map((block, at) =>
            block.start < mark.end && block.end > mark.start ? (
              <Block
                key={at}
                block={readable(text.text, document.format, block)}
                text={text.text}
                mark={mark}
              />
            ) : (
              unmarked[at]
            )
          )}
    </section>
  )
}
