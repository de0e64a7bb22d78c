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
  /** Imports from `effect`, besides `Effect`. */
  readonly effect?: ReadonlyArray<string>
  readonly before?: string
  /** Whether it sends a message with an image file. */
  readonly sendsImage?: boolean
  readonly body: string
}

/** A string may contain other line separators than the line feed: these are no line ends here. */
const indent = (text: string): string => `  ${text.replaceAll("\n", "\n  ")}`

export const programText = (program: Program): string => {
  const { before, body, effect = [], origin, sendsImage = false } = program
  const fromEffect = ["Effect", ...effect, ...(sendsImage ? ["Layer"] : [])].toSorted()
  const layer = sendsImage
    ? "Layer.merge(GatewayClient.layerConfig(), NodeFileSystem.layer)"
    : "GatewayClient.layerConfig()"
  return `// SLUICE_GATEWAY_URL=${origin} SLUICE_API_KEY=sk-… node call.ts
import { ${sendsImage ? "NodeFileSystem, " : ""}NodeRuntime } from "@effect/platform-node"
import { Gateway${sendsImage ? ", userMessage" : ""} } from "@sluice/core"
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
