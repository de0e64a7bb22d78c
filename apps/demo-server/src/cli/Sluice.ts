/** `sluice`: all commands. */
import { Command } from "effect/cli"
import { accounts } from "./commands/Accounts.ts"
import { ask } from "./commands/Ask.ts"
import { conformance } from "./commands/Conformance.ts"
import { evaluate } from "./evaluation/Evaluate.ts"
import { ingest } from "./commands/Ingest.ts"
import { serve } from "./commands/Serve.ts"
import { tune } from "./commands/Tune.ts"
import { why } from "./commands/Why.ts"

export const sluice = Command.make("sluice").pipe(
  Command.withDescription("Ask your documents and get an answer whose every sentence is cited"),
  Command.withSubcommands([serve, ingest, ask, why, tune, evaluate, conformance, accounts])
)
