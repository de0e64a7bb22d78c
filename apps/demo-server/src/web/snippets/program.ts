/** Complete programs over `@sluice/core`: saved to a file, they run. */

/** A value as a TypeScript literal: JSON, with property names unquoted. Undefined properties are left out. */
export const literal = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(/(?<=\n\s*)"([A-Za-z_$][\w$]*)":/g, "$1:")

export interface Snippet {
  /** For a shell in which `SLUICE_API_KEY` is set. */
  readonly curl: string
  readonly effect: string
}

interface Program {
  readonly origin: string
  /** Imports from `@sluice/core`, besides `Gateway`. */
  readonly core?: ReadonlyArray<string>
  /** Imports from `effect`, besides `Effect`. */
  readonly effect?: ReadonlyArray<string>
  readonly before?: string
  readonly readsFiles?: boolean
  readonly body: string
}

/** A string may contain other line separators than the line feed: these are no line ends here. */
const indent = (text: string): string => `  ${text.replaceAll("\n", "\n  ")}`

export const programText = (program: Program): string => {
  const { before, body, core = [], effect = [], origin, readsFiles = false } = program
  const fromEffect = [...new Set(["Effect", ...effect, ...(readsFiles ? ["Layer"] : [])])].toSorted()
  const fromCore = ["Gateway", ...core].toSorted()
  const layer = readsFiles
    ? "Layer.merge(GatewayClient.layerConfig(), NodeFileSystem.layer)"
    : "GatewayClient.layerConfig()"
  return `// SLUICE_GATEWAY_URL=${origin} SLUICE_API_KEY=sk-… node call.ts
import { ${readsFiles ? "NodeFileSystem, " : ""}NodeRuntime } from "@effect/platform-node"
import { ${fromCore.join(", ")} } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { ${fromEffect.join(", ")} } from "effect"
${before === undefined ? "" : `\n${before}\n`}
const program = Effect.gen(function* () {
  const gateway = yield* Gateway
${indent(body)}
})

NodeRuntime.runMain(Effect.provide(program, ${layer}))
`
}
