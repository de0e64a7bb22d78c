/** Complete programs over `@sluice/core`: saved to a file, they run. */

/** One call as code. */
export interface Snippet {
  /** For a shell in which `SLUICE_API_KEY` is set. */
  readonly curl: string
  /** A program over `@sluice/core`. */
  readonly effect: string
}

interface Program {
  /** The gateway's address. */
  readonly origin: string
  /** Imports from `@sluice/core`, besides `Gateway`. */
  readonly core?: ReadonlyArray<string>
  /** Imports from `effect`, besides `Effect`. */
  readonly effect?: ReadonlyArray<string>
  /** Code before the program. */
  readonly before?: string
  /** Whether the program itself reads files. */
  readonly readsFiles?: boolean
  /** The statements of the generator. */
  readonly body: string
}

const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, "  ")

export const programText = ({
  before,
  body,
  core = [],
  effect = [],
  origin,
  readsFiles = false
}: Program): string => {
  const fromEffect = [...new Set(["Effect", ...effect, ...(readsFiles ? ["Layer"] : [])])].toSorted()
  const fromCore = ["Gateway", ...core].toSorted()
  const layer = readsFiles
    ? "Layer.merge(GatewayClient.layerConfig(), NodeFileSystem.layer)"
    : "GatewayClient.layerConfig()"
  return `// SLUICE_GATEWAY_URL=${origin} SLUICE_API_KEY=sk-… node call.ts
import { ${readsFiles ? "NodeFileSystem, " : ""}NodeRuntime } from "@effect/platform-node"
import { ${fromCore.join(", ")} } from "@sluice/core/contract"
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
