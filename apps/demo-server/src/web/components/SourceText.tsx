/** A document as text, scrolled to the quote. */
import { useEffect, useMemo, useRef } from "preact/hooks"
import type { DocumentText } from "../../contract/index.ts"
import { readable, type Readable } from "../source/readable.ts"
import type { Source } from "../state/source.ts"
import { scrollToQuote } from "./scrollToQuote.ts"
import { Runs } from "./Runs.tsx"

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
        <div class="wide">
          <table>
            <tbody>
              {block.rows.map((cells, row) => (
                <tr key={row}>
                  {cells.map((runs, column) => {
                    const Cell = block.head && row === 0 ? "th" : "td"
                    return (
                      <Cell key={column}>
                        <Runs text={text} runs={runs} mark={mark} />
                      </Cell>
                    )
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )
    case "code":
      return (
        <pre>
          <code>
            <Runs text={text} runs={[block]} mark={mark} />
          </code>
        </pre>
      )
  }
}

export const SourceText = ({ shown, text }: Props) => {
  const body = useRef<HTMLElement>(null)
  const { document } = text
  const blocks = useMemo(
    () =>
      text.blocks.length > 0
        ? text.blocks.map((block) => readable(text.text, document.format, block))
        : [{ kind: "code" as const, start: 0, end: text.text.length }],
    [text]
  )
  useEffect(() => scrollToQuote(body.current), [shown, text])
  return (
    <section
      class="source-body prose"
      data-format={document.format}
      ref={body}
      aria-label="Text of the document"
    >
      {blocks.map((block, at) => (
        <Block key={at} block={block} text={text.text} mark={shown.mark} />
      ))}
    </section>
  )
}
