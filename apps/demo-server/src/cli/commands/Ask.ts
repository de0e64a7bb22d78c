/** `sluice ask QUESTION`: answers from the library, with citations. */
import type { Answer, ClosestPassage } from "@sluice/rag"
import { Argument, Command } from "effect/cli"
import {
  dataFlag,
  docsFlag,
  examples,
  jsonFlag,
  parseRetrievalFlags,
  retrievalFlags
} from "../library/Flags.ts"
import { ingestDocs } from "../library/IngestFolder.ts"
import { withLibrary } from "../library/OpenLibrary.ts"
import { breadcrumb } from "../../documents/Breadcrumb.ts"
import { note, printResult } from "../output/Output.ts"

/** The text of a passage in one line, with the words of the question between asterisks. */
const marked = ({ matches, passage: { text } }: ClosestPassage): string => {
  let from = 0
  const parts = matches.map(({ end, start }) => {
    const part = `${text.slice(from, start)}*${text.slice(start, end)}*`
    from = end
    return part
  })
  return `${parts.join("")}${text.slice(from)}`.replaceAll(/\s+/g, " ").trim()
}

const render = (answer: Answer): string =>
  [
    answer.answer,
    ...answer.closest.map(
      (closest) => `${breadcrumb(closest.passage.document.path, closest.passage)}\n    ${marked(closest)}`
    ),
    ...answer.citations.map(
      (citation) =>
        `[${citation.n}] ${breadcrumb(citation.document, citation)}\n    “${citation.quote.replaceAll(/\s+/g, " ").trim()}”${citation.quoted === "matched" ? " (found by Sluice: the model gave no quote)" : ""}`
    )
  ].join("\n\n")

export const askCommand = Command.make(
  "ask",
  {
    question: Argument.String("question").pipe(Argument.withDescription("Your question, in quotes")),
    docs: docsFlag,
    data: dataFlag,
    ...retrievalFlags,
    json: jsonFlag
  },
  ({ data, docs, json, question, ...flags }) =>
    withLibrary(data, function* (library) {
      const options = yield* parseRetrievalFlags(flags)
      yield* ingestDocs(library, docs)
      const answer = yield* library.ask(question, options)
      if ((yield* library.stats).documents === 0) {
        yield* note("The library is empty. Add documents with --docs FOLDER or `sluice ingest FOLDER`.")
      } else if (options.filter !== undefined && answer.trace.passages.length === 0) {
        yield* note("No passages match your filters (--document, --page, --kind, --meta).")
      }
      yield* printResult(json, answer, () => render(answer))
    })
).pipe(
  Command.withDescription("Answer a question from your documents, with a source for every sentence"),
  examples({
    'sluice ask "How long may a boat wait?" --docs ./docs': "Ask a folder of documents",
    'sluice ask "How high is the third chart?" --document reports/ --page 3-9 --kind figure':
      "Search only the figures on some pages of some documents",
    'sluice ask "How long may a boat wait?" --json': "Print the answer, its citations and its trace as JSON"
  })
)
