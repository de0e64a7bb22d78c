/** A process that runs `recheck`, whose folder is the first argument, on one expression after the other. */
import { createRequire } from "node:module"
import { resolve } from "node:path"
import type { RecheckResult } from "./checked.ts"

const {
  checkSync
}: { readonly checkSync: (source: string, flags: string, options: object) => RecheckResult } = createRequire(
  import.meta.url
)(resolve(process.argv[2]!))

/** Milliseconds in which `recheck` itself gives up. */
const TIMEOUT = 20_000

process.on("message", ({ flags, source }: { readonly source: string; readonly flags: string }) => {
  const { attack, complexity, status } = checkSync(source, flags, { timeout: TIMEOUT })
  process.send!({ attack, complexity, status })
})
