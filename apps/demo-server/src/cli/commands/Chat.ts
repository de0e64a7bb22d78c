/** `sluice chat`: a conversation with the library, one question on each line. */
import { createInterface } from "node:readline"
import { Console, Effect, Stream } from "effect"
import { Command } from "effect/cli"
import { StartError } from "../../config/StartError.ts"
import { docsFlag, examples, libraryFlags, parseRetrievalFlags, retrievalFlags } from "../library/Flags.ts"
import { requireNamedDocuments } from "../library/FindDocument.ts"
import { ingestDocs } from "../library/IngestFolder.ts"
import { whenMissing, withLibrary } from "../library/OpenLibrary.ts"
import { renderAnswer } from "../output/AnswerOutput.ts"
import { note } from "../output/Output.ts"

/** Reads the lines of standard input, with a prompt on a terminal. */
const openInput = Effect.acquireRelease(
  Effect.sync(() => {
    const terminal = process.stdin.isTTY === true
    const prompt = terminal ? "\n> " : ""
    return createInterface({ input: process.stdin, output: process.stderr, terminal, prompt })
  }),
  (input) => Effect.sync(() => input.close())
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
      const input = yield* openInput
      const prompt = Effect.sync(() => process.stdin.isTTY && input.prompt())
      yield* prompt
      // The lines end with standard input, or with Ctrl-D.
      yield* Stream.fromAsyncIterable(
        input,
        (cause) => new StartError({ message: `Standard input cannot be read: ${String(cause)}` })
      ).pipe(
        Stream.runForEach((line) =>
          Effect.gen(function* () {
            const question = line.trim()
            if (question === "") return
            const answer = yield* conversation.ask(question, options)
            yield* Console.log(json ? JSON.stringify(answer) : `\n${renderAnswer(answer)}`)
          }).pipe(
            // The conversation goes on.
            Effect.catchTag("RagError", ({ message }) => note(message)),
            Effect.ensuring(prompt)
          )
        )
      )
    })
).pipe(
  Command.withDescription("Ask your documents in a conversation, one question on each line"),
  examples({
    "sluice chat --docs ./docs": "Ask a folder of documents; follow-ups may refer to the question before",
    "sluice chat --json < questions.txt": "Print each answer as one line of JSON"
  })
)
