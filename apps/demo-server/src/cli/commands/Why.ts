/** `sluice why DOCUMENT QUESTION`: explains why a document was retrieved for a question, or was not. */
import type { Why } from "@sluice/rag/retrieval"
import { Argument, Command } from "effect/cli"
import { resolveDocument } from "../library/FindDocument.ts"
import { examples, libraryFlags, parseRetrievalFlags, retrievalFlags } from "../library/Flags.ts"
import { withLibrary } from "../library/OpenLibrary.ts"
import { breadcrumb } from "../../libraries/Breadcrumb.ts"
import { printResult } from "../output/Output.ts"

/** The text lists at most this many passages; JSON lists all. */
const MAX_PASSAGES = 5

const render = ({ document, generated = [], passages, sentence }: Why): string =>
  [
    `${document.path}: ${sentence}`,
    ...generated.map((text) => `Also searched: ${text}`),
    ...passages
      .slice(0, MAX_PASSAGES)
      .map(
        ({ outcome, passage, sentence }) =>
          `${breadcrumb(`#${passage.ordinal}`, passage)}\n    ${outcome}. ${sentence}`
      ),
    ...(passages.length > MAX_PASSAGES
      ? [`and ${passages.length - MAX_PASSAGES} more passages. See them all with --json.`]
      : [])
  ].join("\n\n")

/** JSON also has the passage's places. */
const flatten = (why: Why) => ({
  ...why,
  passages: why.passages.map(({ places, ...passage }) => ({ ...passage, ...places }))
})

// `--document` filters; here the document is an argument.
const { document: _, ...flags } = retrievalFlags

export const whyCommand = Command.make(
  "why",
  {
    expected: Argument.String("document").pipe(
      Argument.withDescription("The document you expected: its path, the end of its path, or its identifier")
    ),
    question: Argument.String("question").pipe(Argument.withDescription("Your question, in quotes")),
    ...libraryFlags,
    ...flags
  },
  ({ collection, data, expected, json, question, ...flags }) =>
    withLibrary({ collection, data }, function* (library) {
      const options = yield* parseRetrievalFlags({ ...flags, document: [] })
      const why = yield* library.why(yield* resolveDocument(library, expected), question, options)
      yield* printResult(json, flatten(why), () => render(why))
    })
).pipe(
  Command.withDescription(
    "Explain why a document was or was not retrieved for a question: its rank and score at every stage"
  ),
  examples({
    'sluice why handbook/gates.md "When is the lower gate opened?"': "Explain each passage of a document"
  })
)
