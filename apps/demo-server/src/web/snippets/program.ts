/** Programs over `@sluice/core`, whole: saved into a file they run as they are. */

interface Program {
  /** Where the gateway is. */
  readonly origin: string
  /** Names of `@sluice/core`, beside `Gateway`. */
  readonly core?: ReadonlyArray<string>
  /** Names of `effect`. */
  readonly effect?: ReadonlyArray<string>
  /** Before the program. */
  readonly before?: string
  /** Whether the program itself reads files. */
  readonly readsFiles?: boolean
  /** The lines of the generator, each statement on its own. */
  readonly body: string
}

const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, "  ")

export const program = ({
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
import { ${fromCore.join(", ")} } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { ${fromEffect.join(", ")} } from "effect"
${before === undefined ? "" : `\n${before}\n`}
const program = Effect.gen(function* () {
  const gateway = yield* Gateway
${indented(body)}
})

NodeRuntime.runMain(Effect.provide(program, ${layer}))
`
}
