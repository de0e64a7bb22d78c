/** The libraries in `peer/` and `llama-peer/`, if they are installed there, and how a process finds them. */
import { createRequire } from "node:module"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const installedIn = (folder: string, name: string): string | undefined => {
  const peer = join(import.meta.dirname, folder)
  if (!existsSync(join(peer, "node_modules", name))) return undefined
  return pathToFileURL(createRequire(join(peer, "package.json")).resolve(name)).href
}

/** Undefined: it is not installed. */
export const peerLibrary = installedIn("peer", "@huggingface/transformers")
export const llamaLibrary = installedIn("llama-peer", "node-llama-cpp")

/** The environment of a process, and of its threads and processes, in which the packages resolve to those. */
export const environmentWithPeer = (folder: string): Readonly<Record<string, string>> => {
  const hooks = join(folder, "hooks.mjs")
  const urls = { "@huggingface/transformers": peerLibrary, "node-llama-cpp": llamaLibrary }
  writeFileSync(
    hooks,
    `import { registerHooks } from "node:module"
const urls = ${JSON.stringify(urls)}
registerHooks({ resolve: (name, context, next) =>
  urls[name] ? { url: urls[name], shortCircuit: true } : next(name, context) })`
  )
  return { NODE_OPTIONS: `--import ${pathToFileURL(hooks).href}` }
}
