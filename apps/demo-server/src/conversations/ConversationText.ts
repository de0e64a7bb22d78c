/** A conversation as Markdown with footnotes, and as a page of HTML without scripts. */
import type { Citation } from "@sluice/rag"
import type { ConversationBody } from "../contract/Conversations.ts"
import { breadcrumb } from "../libraries/Breadcrumb.ts"
import { Markup, markup } from "../wire/Markup.ts"

type Conversation = Pick<ConversationBody, "title" | "turns">

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

const noteOf = (citation: Citation): string => `${citation.title}, ${breadcrumb(citation.document, citation)}`

/** Characters of a passage that is shown in place of an answer. */
const MAX_CLOSEST = 600

const closestOf = ({ closest }: Conversation["turns"][number]["answer"]) =>
  closest.map(({ passage }) => ({
    text: oneLine(passage.text).slice(0, MAX_CLOSEST),
    note: breadcrumb(passage.document.path, passage)
  }))

/** The text of an answer, with `mark` in the place of each `[n]`. */
const markedText = (
  { answer, citations }: Conversation["turns"][number]["answer"],
  mark: (n: number) => string
) => {
  const known = new Set(citations.map(({ n }) => n))
  return answer.replaceAll(/\[(\d{1,3})\]/g, (all, n: string) =>
    known.has(Number(n)) ? mark(Number(n)) : all
  )
}

export const conversationMarkdown = ({ title, turns }: Conversation): string =>
  [
    `# ${oneLine(title)}`,
    ...turns.flatMap((turn) => {
      const { citations, question, standalone } = turn.answer
      const label = (n: number) => `[^${turn.number}-${n}]`
      return [
        `## ${oneLine(question)}`,
        ...(standalone === undefined ? [] : [`_${oneLine(standalone.question)}_`]),
        markedText(turn.answer, label),
        ...closestOf(turn.answer).map(({ note, text }) => `> ${text} (${note})`),
        ...citations.map(
          (citation) => `${label(citation.n)}: “${oneLine(citation.quote)}” (${noteOf(citation)})`
        )
      ]
    })
  ].join("\n\n") + "\n"

const STYLE =
  "body{font:1rem/1.6 system-ui,sans-serif;max-width:42rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}" +
  "h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.5rem}.answer{white-space:pre-line}" +
  "ol,ul{padding-left:1.5rem;font-size:.9rem}blockquote{margin:0;padding-left:.75rem;border-left:2px solid;white-space:pre-line}" +
  "sup a{text-decoration:none}li{margin-bottom:.75rem}.note{opacity:.75;font-size:.9rem}"

export const conversationHtml = ({ title, turns }: Conversation): string => {
  const sections = turns.map((turn) => {
    const { citations, question, standalone } = turn.answer
    const anchor = (n: number) => `t${turn.number}-${n}`
    const text = markup`${markedText(turn.answer, (n) => `\u0000${n}\u0000`)}`.text.replaceAll(
      // oxlint-disable-next-line no-control-regex -- stands for a number until the text is escaped
      /\u0000(\d+)\u0000/g,
      (_, n: string) => `<sup><a href="#${anchor(Number(n))}">[${n}]</a></sup>`
    )
    const notes = citations.map(
      (citation) =>
        markup`<li id="${anchor(citation.n)}" value="${citation.n}"><blockquote>${citation.quote}</blockquote>${noteOf(citation)}</li>`
    )
    const closest = closestOf(turn.answer).map(
      ({ note, text }) => markup`<li><blockquote>${text}</blockquote>${note}</li>`
    )
    const understood =
      standalone === undefined ? "" : markup`<p class="note">Understood as: ${standalone.question}</p>`
    return markup`<section><h2>${question}</h2>${understood}<p class="answer">${new Markup(text)}</p>${notes.length === 0 ? "" : markup`<ol>${notes}</ol>`}${closest.length === 0 ? "" : markup`<ul>${closest}</ul>`}</section>`
  })
  return markup`<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${title}</title><style>${new Markup(STYLE)}</style></head><body><h1>${title}</h1>${sections}</body></html>`
    .text
}
