/** A command, from its arguments to what it says; whoever runs it decides what its failure does to the process. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer, Logger } from "effect"
import { CliOutput, Command } from "effect/cli"
import { VERSION } from "../config/Version.ts"
import { failureOf } from "./output/Failure.ts"
import { sluice } from "./Sluice.ts"

/** Help that nobody asked for would stand between a mistake and its message; what was asked for is printed. */
const presenter = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation" ? Effect.void : CliOutput.defaultPresenter.present(event)
})

/** Prints results to standard output, everything else to standard error; fails when the command does, which it has said. */
export const run = (args: ReadonlyArray<string>) =>
  Command.runWith(sluice, { version: VERSION })(args).pipe(
    Effect.tapCause((cause) => {
      const failure = failureOf(cause)
      if (failure === undefined) return Effect.void
      const toStderr = Console.error(`sluice: ${failure.message}`)
      const asJson = args.includes("--json")
      return asJson ? Effect.andThen(Console.log(JSON.stringify({ error: failure })), toStderr) : toStderr
    }),
    Effect.provide(Layer.mergeAll(NodeServices.layer, presenter)),
    Effect.provideService(Logger.LogToStderr, true)
  )
