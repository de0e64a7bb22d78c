/** `sluice ask QUESTION`: a cited answer from the library. */
import type { Answer, Citation } from "@sluice/rag"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { bringUpToDate, docsFlag } from "./Ingest.ts"
import { withLibrary } from "../library/OpenLibrary.ts"
import { json, note, print } from "../output/Output.ts"
import * as RetrievalFlags from "../library/RetrievalFlags.ts"
import * as Settings from "../library/Settings.ts"

const place = ({ document, headings, page }: Citation): string =>
  [document, ...(page === undefined ? [] : [`page ${page}`]), ...headings].join(" › ")

/** The answer and, below it, where each quote stands. */
const render = (answer: Answer): string =>
  [
    answer.answer,
    ...answer.citations.map(
      (citation) =>
        `[${citation.n}] ${place(citation)}\n    “${citation.quote.replaceAll(/\s+/g, " ").trim()}”`
    )
  ].join("\n\n")

export const ask = Command.make(
  "ask",
  {
    question: Argument.String("question").pipe(Argument.withDescription("What you want to know, in quotes")),
    docs: docsFlag,
    data: Settings.data,
    ...RetrievalFlags.flags,
    json
  },
  ({ data, docs, json, question, ...said }) =>
    withLibrary(data, (library) =>
      Effect.gen(function* () {
        const options = yield* RetrievalFlags.optionsOf(said)
        yield* bringUpToDate(library, docs)
        const answer = yield* library.ask(question, options)
        if ((yield* library.stats).documents === 0) {
          yield* note(
            "The library has no documents yet: name a folder with --docs, or run `sluice ingest FOLDER`."
          )
        } else if (options.filter !== undefined && answer.trace.passages.length === 0) {
          yield* note("No passage is as --document, --page, --kind and --meta say: nothing was looked at.")
        }
        yield* print(json, answer, () => render(answer))
      })
    )
).pipe(
  Command.withDescription("Answer a question from the documents; every sentence names its source"),
  Command.withExamples([
    {
      command: 'sluice ask "How long may a boat wait?" --docs ./docs',
      description: "Ask a folder of documents"
    },
    {
      command: 'sluice ask "How high is the third chart?" --document reports/ --page 3-9 --kind figure',
      description: "Only figures of some pages of some documents"
    },
    {
      command: 'sluice ask "How long may a boat wait?" --json',
      description: "The answer, citations and trace as JSON"
    }
  ])
)
