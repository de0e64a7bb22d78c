/**
 * Writes dist/lancedb.js, the JavaScript of LanceDB's client, and dist/lancedb.d.ts: `#lancedb` of the published package. The
 * binaries are packages of their own, and optional dependencies of ours.
 *
 * `@lancedb/lancedb` lists `@huggingface/transformers` and `openai` as optional dependencies. Sluice uses neither, and npm
 * reads `overrides` of applications only: depending on it, a plain `npm install @sluice/rag` had 672 MB in place of 306.
 */
import * as lancedb from "@lancedb/lancedb"
import { writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"

/** A bundle of CommonJS modules has a default export only, so the entry names the others. */
const names = Object.keys(lancedb).filter((name) => name !== "default" && /^\w+$/.test(name))
const ENTRY = "lancedb-entry"

const bundle = await rolldown({
  input: ENTRY,
  platform: "node",
  external: ["apache-arrow", /^@lancedb\/lancedb-/, "@huggingface/transformers", "openai"],
  logLevel: "silent",
  plugins: [
    {
      name: ENTRY,
      resolveId: (id) => (id === ENTRY ? id : undefined),
      load: (id) => (id === ENTRY ? `export { ${names.join(", ")} } from "@lancedb/lancedb"` : undefined)
    }
  ]
})
await bundle.write({ file: fileURLToPath(new URL("../dist/lancedb.js", import.meta.url)) })
await bundle.close()

/** What declarations of this package name. No entry exports them, and LanceDB's own declarations are not installed. */
const TYPES = ["AddResult", "Connection", "Index", "MatchQuery", "MergeResult", "Table", "VectorQuery"]
await writeFile(
  new URL("../dist/lancedb.d.ts", import.meta.url),
  TYPES.map((name) => `export type ${name} = unknown\n`).join("")
)
