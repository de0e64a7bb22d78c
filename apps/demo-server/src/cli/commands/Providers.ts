/** `sluice providers`: the vendors that a server can be connected to, and what each has. */
import { Dialects } from "@sluice/providers"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { vendorOf, vendorRows } from "../../connect/Vendors.ts"
import { jsonFlag } from "../library/Flags.ts"
import { printResult } from "../output/Output.ts"

/** Columns of the width of their longest cell. */
const renderTable = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

export const providersCommand = Command.make("providers", { json: jsonFlag }, ({ json }) =>
  Effect.gen(function* () {
    const vendors = (yield* Dialects).map(vendorOf)
    yield* printResult(json, { providers: vendors }, () =>
      [renderTable(vendorRows(vendors)), "Connect one: sluice connect VENDOR"].join("\n")
    )
  })
).pipe(Command.withDescription("List the vendors that can be connected, and what each of them has"))
