/** `sluice eval`: measures quality. */
import { Command } from "effect/cli"
import { figuresCommand } from "./Figures.ts"
import { libraryCommand } from "./LibraryQuestions.ts"
import { qaCommand } from "./Qa.ts"
import { retrievalCommand } from "./Retrieval.ts"

export const evalCommand = Command.make("eval").pipe(
  Command.withDescription(
    "Measure quality: retrieval (on a judged collection or your own documents), figures, and answers"
  ),
  Command.withSubcommands([retrievalCommand, libraryCommand, figuresCommand, qaCommand])
)
