/** `sluice`: all commands, and how one runs. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer, Logger, References } from "effect"
import { CliOutput, Command } from "effect/cli"
import { VERSION } from "../config/ServerConfig.ts"
import { accountsCommand } from "./commands/Accounts.ts"
import { askCommand } from "./commands/Ask.ts"
import { backupCommand, restoreCommand } from "./commands/Backup.ts"
import { chatCommand } from "./commands/Chat.ts"
import { conformanceCommand } from "./commands/Conformance.ts"
import { connectCommand } from "./commands/Connect.ts"
import { collectionsCommand, listCommand, removeCommand } from "./commands/Documents.ts"
import { doctorCommand } from "./commands/Doctor.ts"
import { findFiguresCommand } from "./commands/Figures.ts"
import { ingestCommand } from "./commands/Ingest.ts"
import { mcpCommand } from "./commands/Mcp.ts"
import { modelsCommand } from "./commands/Models.ts"
import { providersCommand } from "./commands/Providers.ts"
import { rebuildCommand } from "./commands/Rebuild.ts"
import { serveCommand, workerCommand } from "./commands/Serve.ts"
import { summariseCommand } from "./commands/Summarise.ts"
import { syncCommand } from "./commands/Sync.ts"
import { tuneCommand } from "./commands/Tune.ts"
import { whyCommand } from "./commands/Why.ts"
import { answersCommand } from "./evaluation/Answers.ts"
import { figuresCommand } from "./evaluation/Figures.ts"
import { libraryCommand } from "./evaluation/LibraryQuestions.ts"
import { qaCommand } from "./evaluation/Qa.ts"
import { retrievalCommand } from "./evaluation/Retrieval.ts"
import { cliFailure } from "./output/CliFailure.ts"

const evalCommand = Command.make("eval").pipe(
  Command.withDescription("Measure the quality of retrieval, of figures found in PDFs, and of answers"),
  Command.withSubcommands([retrievalCommand, libraryCommand, figuresCommand, qaCommand, answersCommand])
)

export const sluice = Command.make("sluice").pipe(
  Command.withDescription("Ask your documents and get answers with a source for every sentence"),
  Command.withSubcommands([
    serveCommand,
    workerCommand,
    connectCommand,
    ingestCommand,
    listCommand,
    removeCommand,
    collectionsCommand,
    syncCommand,
    askCommand,
    chatCommand,
    summariseCommand,
    mcpCommand,
    whyCommand,
    tuneCommand,
    findFiguresCommand,
    evalCommand,
    modelsCommand,
    providersCommand,
    conformanceCommand,
    accountsCommand,
    backupCommand,
    restoreCommand,
    doctorCommand,
    rebuildCommand
  ])
)

/** Prints help only when it was requested: after a usage error it would hide the message. */
const presenter = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation" ? Effect.void : CliOutput.defaultPresenter.present(event)
})

/** Runs a command. Prints its failure and then fails with it. Logs go to standard error: warnings, and all of a server. */
export const runSluice = (args: ReadonlyArray<string>) =>
  Command.runWith(sluice, { version: VERSION })(args).pipe(
    Effect.tapCause((cause) => {
      const failure = cliFailure(cause)
      if (failure === undefined) return Effect.void
      const toStderr = Console.error(`sluice: ${failure.message}`)
      const asJson = args.includes("--json")
      return asJson ? Effect.andThen(Console.log(JSON.stringify({ error: failure })), toStderr) : toStderr
    }),
    Effect.provide(Layer.mergeAll(NodeServices.layer, presenter)),
    Effect.provideService(Logger.LogToStderr, true),
    Effect.provideService(References.MinimumLogLevel, "Warn")
  )
