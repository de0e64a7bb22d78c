/** A document as text, scrolled to the quote. */
import { useLayoutEffect, useMemo, useRef } from "preact/hooks"
import type { DocumentText } from "../../contract/index.ts"
import { readableBlock, type ReadableBlock } from "../markdown/blocks.ts"
import { TextRuns, type TextMark } from "../markdown/TextRuns.tsx"
import { Scroller } from "../ui/Scroller.tsx"
import { scrollToQuote } from "./scrollToQuote.ts"
import type { OpenSource } from "./source.ts"

interface Props {
  readonly shown: OpenSource
  readonly text: DocumentText
}

interface BlockProps {
  readonly text: string
  readonly block: ReadableBlock
  readonly mark?: TextMark
}

const Block = ({ block, mark, text }: BlockProps) => {
  switch (block.kind) {
    case "heading": {
      const Heading = `h${Math.min(6, block.level + 2)}` as "h3"
      return (
        <Heading class={`level-${block.level}`}>
          <TextRuns text={text} runs={block.runs} mark={mark} />
        </Heading>
      )
    }
    case "paragraph":
      return (
        <p>
          <TextRuns text={text} runs={block.runs} mark={mark} />
        </p>
      )
    case "quotation":
      return (
        <blockquote>
          <TextRuns text={text} runs={block.runs} mark={mark} />
        </blockquote>
      )
    case "list":
      return (
        <ul>
          {block.items.map((item, at) => (
            <li key={at} data-marker={item.marker || "–"} style={{ "--depth": item.depth }}>
              <TextRuns text={text} runs={item.runs} mark={mark} />
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
                        <TextRuns text={text} runs={runs} mark={mark} />
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
        <Scroller class="wide listing" label="Code">
          <pre>
            <code>
              <TextRuns text={text} runs={[block]} mark={mark} />
            </code>
          </pre>
        </Scroller>
      )
  }
}

/** For a document in which the parser found no blocks. */
const wholeText = ({ text }: DocumentText) => [{ kind: "code" as const, start: 0, end: text.length }]

export const SourceText = ({ shown: { mark }, text }: Props) => {
  const body = useRef<HTMLElement>(null)
  const { document } = text
  const blocks = text.blocks.length > 0 ? text.blocks : wholeText(text)
  // In a long document, only the marked blocks are rendered again from citation to citation.
  const unmarked = useMemo(
    () =>
      blocks.map((block, at) => (
        <Block key={at} block={readableBlock(text.text, document.format, block)} text={text.text} />
      )),
    [text]
  )
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
      {mark === undefined
        ? unmarked
        : blocks.map((block, at) =>
            block.start < mark.end && block.end > mark.start ? (
              <Block
                key={at}
                block={readableBlock(text.text, document.format, block)}
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
