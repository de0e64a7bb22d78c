/** `sluice ask QUESTION`: answers from the library, with citations. */
import { Argument, Command } from "effect/cli"
import { docsFlag, examples, libraryFlags, parseRetrievalFlags, retrievalFlags } from "../library/Flags.ts"
import { requireNamedDocuments } from "../library/FindDocument.ts"
import { ingestDocs } from "../library/IngestFolder.ts"
import { whenMissing, withLibrary } from "../library/OpenLibrary.ts"
import { renderAnswer } from "../output/AnswerOutput.ts"
import { note, printResult, setExitCode } from "../output/Output.ts"

export const askCommand = Command.make(
  "ask",
  {
    question: Argument.String("question").pipe(Argument.withDescription("Your question, in quotes")),
    docs: docsFlag,
    ...libraryFlags,
    ...retrievalFlags
  },
  ({ collection, data, docs, json, question, ...flags }) =>
    withLibrary({ collection, data, missing: whenMissing(docs) }, function* (library) {
      const options = yield* parseRetrievalFlags(flags)
      yield* ingestDocs(library, docs)
      yield* requireNamedDocuments(library, flags.document)
      const answer = yield* library.ask(question, options)
      if ((yield* library.stats).documents === 0) {
        yield* note("The library is empty. Add documents with --docs FOLDER or `sluice ingest FOLDER`.")
      } else if (options.filter !== undefined && answer.trace.passages.length === 0) {
        yield* setExitCode
        yield* note("No passages match your filters (--document, --page, --kind, --meta).")
        if (!json) return
      }
      if (answer.outcome === "unread") yield* setExitCode
      yield* printResult(json, answer, () => renderAnswer(answer))
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
