/** `sluice chat`: a conversation with the library, one question on each line. */
import { createInterface } from "node:readline"
import { Effect, Stream } from "effect"
import { Command } from "effect/cli"
import { StartError } from "../../config/StartError.ts"
import { docsFlag, examples, libraryFlags, parseRetrievalFlags, retrievalFlags } from "../library/Flags.ts"
import { requireNamedDocuments } from "../library/FindDocument.ts"
import { ingestDocs } from "../library/IngestFolder.ts"
import { whenMissing, withLibrary } from "../library/OpenLibrary.ts"
import { renderAnswer } from "../output/AnswerOutput.ts"
import { note, printResult } from "../output/Output.ts"

/** The lines of standard input, with a prompt on a terminal. They end with it, or with Ctrl-D. */
const lines = Stream.unwrap(
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const isTerminal = process.stdin.isTTY === true
        const reading = createInterface({
          input: process.stdin,
          output: process.stderr,
          terminal: isTerminal
        })
        reading.setPrompt(isTerminal ? "\n> " : "")
        return reading
      }),
      (reading) => Effect.sync(() => reading.close())
    ),
    (reading) =>
      Stream.suspend(() => {
        if (process.stdin.isTTY) reading.prompt()
        return Stream.fromAsyncIterable(
          reading,
          (cause) => new StartError({ message: `Standard input cannot be read: ${String(cause)}` })
        )
      }).pipe(
        Stream.map((line) => ({ question: line.trim(), next: () => process.stdin.isTTY && reading.prompt() }))
      )
  )
)

export const chatCommand = Command.make(
  "chat",
  { docs: docsFlag, ...libraryFlags, ...retrievalFlags },
  ({ collection, data, docs, json, ...flags }) =>
    withLibrary({ collection, data, missing: whenMissing(docs) }, function* (library) {
      const options = yield* parseRetrievalFlags(flags)
      yield* ingestDocs(library, docs)
      yield* requireNamedDocuments(library, flags.document)
      const conversation = yield* library.conversation()
      if (process.stdin.isTTY) yield* note("Ask your documents. Ctrl-D ends the conversation.")
      yield* Stream.runForEach(lines, ({ next, question }) =>
        Effect.gen(function* () {
          if (question !== "") {
            const answer = yield* conversation.ask(question, options)
            yield* json
              ? printResult(false, answer, () => JSON.stringify(answer))
              : printResult(false, answer, () => `\n${renderAnswer(answer)}`)
          }
        }).pipe(
          // The conversation goes on.
          Effect.catchTag("RagError", ({ message }) => note(message)),
          Effect.ensuring(Effect.sync(next))
        )
      ).pipe(Effect.scoped)
    })
).pipe(
  Command.withDescription("Ask your documents in a conversation, one question on each line"),
  examples({
    "sluice chat --docs ./docs": "Ask a folder of documents; follow-ups may refer to the question before",
    "sluice chat --json < questions.txt": "Print each answer as one line of JSON"
  })
)
