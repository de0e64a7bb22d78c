/** The boundaries of the design, as data. */

/** Where a file belongs: the folder that holds its package.json. */
export const packageFolders = [
  "packages/core",
  "packages/embedded",
  "packages/rag",
  "packages/transformers",
  "apps/demo-server"
] as const
export type PackageFolder = (typeof packageFolders)[number]

/** What each package may import of the others. Nothing else with `@sluice/` in it, and no relative path across. */
export const allowed: Readonly<Record<PackageFolder, ReadonlyArray<string>>> = {
  "packages/core": [],
  "packages/embedded": ["@sluice/core", "@sluice/core/contract", "@sluice/core/media"],
  "packages/rag": ["@sluice/core", "@sluice/core/contract", "@sluice/core/media"],
  "packages/transformers": ["@sluice/core", "@sluice/core/contract"],
  "apps/demo-server": [
    "@sluice/core",
    "@sluice/core/client",
    "@sluice/core/conformance",
    "@sluice/core/contract",
    "@sluice/core/media",
    "@sluice/embedded",
    "@sluice/embedded/media",
    "@sluice/embedded/vision",
    "@sluice/rag",
    "@sluice/rag/evaluation"
  ]
}

/** Modules that speak to the network. `rag` asks for models; which of them are far away is not its business. */
export const network =
  /^(undici|node:(http2?|https|net|tls)|effect\/http(-api)?(\/.*)?|@sluice\/core\/client)$/

/** Each of these libraries is known by one file, so that replacing it is a change of one file. */
export const singleHome = ["@lancedb/lancedb", "@embedpdf/pdfium", "undici"] as const

/** Files that only describe: what they reach, however indirectly, is `effect` and descriptions. */
export const pure = ["packages/core/src/contract/", "apps/demo-server/src/contract/"] as const

/** The root of core brings no transport: `@sluice/core/client` does. */
export const transportFree = "packages/core/src/index.ts"

export const MAX_LINES = 400

/** Names that say nothing, so that anything ends up in them. */
export const emptyName = /^(utils?|commons?|helpers?|misc)(\W|$)/i
