/** The version of this package, as its package.json says. */
import { createRequire } from "node:module"

const manifest = createRequire(import.meta.url)("../../package.json") as { readonly version: string }

export const VERSION = manifest.version
