/** What a command says when it fails: one line for people, one object for programs. */
import { GatewayError } from "@sluice/core"
import { RagError } from "@sluice/rag"
import { Cause } from "effect"
import { CliError } from "effect/cli"
import { StartError } from "../../config/StartError.ts"

/** `reason` is for programs: a reason of RagError or GatewayError, `Usage`, `Configuration`, or `Internal`. */
export interface Failure {
  readonly reason: string
  readonly message: string
}

const usage = (error: CliError.CliError): Failure | undefined => {
  if (error._tag !== "ShowHelp") return { reason: "Usage", message: error.message }
  if (error.errors.length === 0) return undefined
  const help = `See: ${error.commandPath.join(" ")} --help`
  // What is wrong with a value is told as what is expected of it: "Expected: Path does not exist".
  const errors = error.errors.map(({ message }) => message.replace(/Expected: (?=Path |Invalid )/, ""))
  return { reason: "Usage", message: [...errors, help].join(". ") }
}

/** The failure that a person can act upon; none when the help that was printed says it all. A defect is said to be ours, with what is needed to report it. */
export const failureOf = (cause: Cause.Cause<unknown>): Failure | undefined => {
  // Ctrl-C is no failure.
  if (Cause.hasInterruptsOnly(cause)) return undefined
  const error = Cause.squash(cause)
  if (CliError.isCliError(error)) return usage(error)
  if (error instanceof RagError) return { reason: error.reason, message: error.message }
  if (error instanceof GatewayError) return { reason: error.reason._tag, message: error.message }
  if (error instanceof StartError) return { reason: "Configuration", message: error.message }
  return {
    reason: "Internal",
    message: `This is a fault of Sluice, please report it: ${Cause.pretty(cause)}`
  }
}
