/** `sluice`: all commands. */
import { Command } from "effect/cli"
import { accounts } from "./Accounts.ts"
import { ask } from "./Ask.ts"
import { conformance } from "./Conformance.ts"
import { evaluate } from "./Evaluate.ts"
import { ingest } from "./Ingest.ts"
import { serve } from "./Serve.ts"
import { tune } from "./Tune.ts"
import { why } from "./Why.ts"

export const sluice = Command.make("sluice").pipe(
  Command.withDescription("Ask your documents and get an answer whose every sentence is cited"),
  Command.withSubcommands([serve, ingest, ask, why, tune, evaluate, conformance, accounts])
)
