/** The entry of the command line: arguments in, exit code out. Loaded by bin/sluice.js. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer, Logger } from "effect"
import { CliOutput, Command } from "effect/cli"
import { VERSION } from "../Version.ts"
import { failureOf } from "./Failure.ts"
import { sluice } from "./Sluice.ts"

const asJson = process.argv.includes("--json")

/** Help that nobody asked for would stand between a mistake and its message; what was asked for is printed. */
const presenter = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation" ? Effect.void : CliOutput.defaultPresenter.present(event)
})

Command.run(sluice, { version: VERSION }).pipe(
  Effect.tapCause((cause) => {
    const failure = failureOf(cause)
    if (failure === undefined) return Effect.void
    const toStderr = Console.error(`sluice: ${failure.message}`)
    return asJson ? Effect.andThen(Console.log(JSON.stringify({ error: failure })), toStderr) : toStderr
  }),
  Effect.provide(Layer.mergeAll(NodeServices.layer, presenter)),
  Effect.provideService(Logger.LogToStderr, true),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
