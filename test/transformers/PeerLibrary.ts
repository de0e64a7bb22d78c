/** The library in `peer/`, if it is installed there, and how a process finds it. */
import { createRequire } from "node:module"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const peer = join(import.meta.dirname, "peer")

/** Undefined: it is not installed. */
export const peerLibrary: string | undefined = existsSync(
  join(peer, "node_modules/@huggingface/transformers")
)
  ? pathToFileURL(createRequire(join(peer, "package.json")).resolve("@huggingface/transformers")).href
  : undefined

/** The environment of a process, and of its threads, in which the package resolves to the one in `peer/`. */
export const environmentWithPeer = (folder: string): Readonly<Record<string, string>> => {
  const hooks = join(folder, "hooks.mjs")
  writeFileSync(
    hooks,
    `import { registerHooks } from "node:module"
registerHooks({ resolve: (name, context, next) =>
  name === "@huggingface/transformers" ? { url: ${JSON.stringify(peerLibrary)}, shortCircuit: true } : next(name, context) })`
  )
  return { NODE_OPTIONS: `--import ${pathToFileURL(hooks).href}` }
}
