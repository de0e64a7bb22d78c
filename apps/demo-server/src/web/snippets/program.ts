/** Complete programs over `@sluice/core`: saved to a file, they run. */

/** Columns; a longer literal is written on several lines. */
const WIDTH = 76

const NAME = /^[A-Za-z_$][\w$]*$/

const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")

/** A value as a TypeScript literal. Undefined properties are left out. */
export const literal = (value: unknown, indent = 0): string => {
  if (typeof value === "string") return quoted(value)
  if (typeof value !== "object" || value === null) return String(value)
  const isList = Array.isArray(value)
  const parts = (inner: number) =>
    isList
      ? value.map((each) => literal(each, inner))
      : Object.entries(value)
          .filter(([, each]) => each !== undefined)
          .map(([name, each]) => `${NAME.test(name) ? name : quoted(name)}: ${literal(each, inner)}`)
  const flat = parts(0)
  if (flat.length === 0) return isList ? "[]" : "{}"
  const line = isList ? `[${flat.join(", ")}]` : `{ ${flat.join(", ")} }`
  if (indent + line.length <= WIDTH && !line.includes("\n")) return line
  const space = " ".repeat(indent + 2)
  const [open, close] = isList ? ["[", "]"] : ["{", "}"]
  return `${open}\n${parts(indent + 2)
    .map((part) => space + part)
    .join(",\n")}\n${" ".repeat(indent)}${close}`
}

/** One call as code. */
export interface Snippet {
  /** For a shell in which `SLUICE_API_KEY` is set. */
  readonly curl: string
  /** A program over `@sluice/core`. */
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
