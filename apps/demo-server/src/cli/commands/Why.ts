/** `sluice why DOCUMENT QUESTION`: what became of a document when a question was asked. */
import { type LibraryService, type PassageWhy, RagError, type Why } from "@sluice/rag"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { withLibrary } from "../library/OpenLibrary.ts"
import { namedDocument } from "../library/FindDocument.ts"
import { json, print } from "../output/Output.ts"
import * as RetrievalFlags from "../library/RetrievalFlags.ts"
import * as Settings from "../library/Settings.ts"

/** Passages that are told of to people. */
const TOLD = 5

const place = ({ passage }: PassageWhy): string =>
  [
    `#${passage.ordinal}`,
    ...(passage.page === undefined ? [] : [`page ${passage.page}`]),
    ...passage.headings
  ].join(" › ")

const render = ({ document, passages, sentence }: Why): string =>
  [
    `${document.path}: ${sentence}`,
    ...passages.slice(0, TOLD).map((why) => `${place(why)}\n    ${why.outcome}. ${why.sentence}`),
    ...(passages.length > TOLD
      ? [`and ${passages.length - TOLD} more passages; all of them with --json`]
      : [])
  ].join("\n\n")

/** The identifier of a document that is named by its path, a part of one, or by itself. */
const identified = Effect.fn("cli.identified")(function* (library: LibraryService, named: string) {
  const { document, near } = namedDocument(yield* library.documents, named)
  if (document !== undefined) return document.id
  const could = near.map(({ path }) => path).join(", ")
  return yield* new RagError({
    stage: "retrieve",
    reason: "NotFound",
    message:
      could === ""
        ? `There is no document ${named} in the library: it was not found because it is not there. Ingest it, or mend its path.`
        : `There is no one document ${named} in the library. Is it one of these: ${could}? Else ingest it.`,
    document: named
  })
})

// A document is what is asked about here, not a condition.
const { document: _, ...flags } = RetrievalFlags.flags

export const why = Command.make(
  "why",
  {
    expected: Argument.String("document").pipe(
      Argument.withDescription("The document that was expected: its path or the end of it, or its identifier")
    ),
    question: Argument.String("question").pipe(Argument.withDescription("What was asked, in quotes")),
    data: Settings.data,
    ...flags,
    json
  },
  ({ data, expected, json, question, ...said }) =>
    withLibrary(data, (library) =>
      Effect.gen(function* () {
        const options = yield* RetrievalFlags.optionsOf({ ...said, document: [] })
        const told = yield* library.why(yield* identified(library, expected), question, options)
        yield* print(json, told, () => render(told))
      })
    )
).pipe(
  Command.withDescription(
    "Why a document was found for a question, or was not: its place at every stage, and what decided"
  ),
  Command.withExamples([
    {
      command: 'sluice why handbook/gates.md "When is the lower gate opened?"',
      description: "What became of each passage of a document"
    }
  ])
)
