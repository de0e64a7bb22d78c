/** Translates a failure into one line for people and one object for programs. */
import { GatewayError } from "@sluice/core"
import { RagError } from "@sluice/rag"
import { Cause } from "effect"
import { CliError } from "effect/cli"
import { StartError } from "../../config/StartError.ts"
import { SourceFault } from "../../sources/kinds/SourceKind.ts"

/** `reason` is a reason of `RagError` or `GatewayError`, or `Usage`, `Configuration`, `Source` or `Internal`. */
interface CliFailure {
  readonly reason: string
  readonly message: string
}

const usage = (error: CliError.CliError): CliFailure | undefined => {
  if (error._tag !== "ShowHelp") return { reason: "Usage", message: error.message }
  if (error.errors.length === 0) return undefined
  const help = `See: ${error.commandPath.join(" ")} --help`
  // Effect reports some faults as expectations: "Expected: Path does not exist".
  const errors = error.errors.map(({ message }) =>
    message
      .replace(/Expected: (?=Path |Invalid )/, "")
      .replace("\n\n  Did you mean this?\n    ", ". Did you mean: ")
      .replaceAll("\n    ", ", ")
  )
  return { reason: "Usage", message: [...errors, help].join(". ") }
}

/** Undefined for an interrupt (Ctrl-C) and where the printed help already says everything. */
export const cliFailure = (cause: Cause.Cause<unknown>): CliFailure | undefined => {
  if (Cause.hasInterruptsOnly(cause)) return undefined
  const error = Cause.squash(cause)
  if (CliError.isCliError(error)) return usage(error)
  if (error instanceof RagError) return { reason: error.reason, message: error.message }
  if (error instanceof GatewayError) return { reason: error.reason._tag, message: error.message }
  if (error instanceof SourceFault) return { reason: "Source", message: error.message }
  if (error instanceof StartError) return { reason: "Configuration", message: error.message }
  return { reason: "Internal", message: `This is a bug in Sluice. Please report it: ${Cause.pretty(cause)}` }
}
