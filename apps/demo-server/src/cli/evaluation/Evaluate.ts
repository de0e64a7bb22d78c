/** `sluice eval`: how good it is, measured. */
import { Command } from "effect/cli"
import { figures } from "./EvaluateFigures.ts"
import { qa } from "./EvaluateQa.ts"
import { library } from "./EvaluateLibrary.ts"
import { retrieval } from "./EvaluateRetrieval.ts"

export const evaluate = Command.make("eval").pipe(
  Command.withDescription(
    "Measure what is found, in a collection with judgements or in your own documents, the reading of figures, and answers"
  ),
  Command.withSubcommands([retrieval, library, figures, qa])
)
