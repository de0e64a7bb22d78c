/** The rules of the architecture test. */

/** Folders with a package.json. */
export const packageFolders = [
  "packages/core",
  "packages/embedded",
  "packages/providers",
  "packages/rag",
  "packages/transformers",
  "apps/demo-server"
] as const
export type PackageFolder = (typeof packageFolders)[number]

/** Entries of other packages that a package may import. Relative imports across packages are never allowed. */
export const allowed: Readonly<Record<PackageFolder, ReadonlyArray<string>>> = {
  "packages/core": [],
  "packages/embedded": [
    "@sluice/core",
    "@sluice/core/contract",
    "@sluice/core/media",
    "@sluice/core/models",
    "@sluice/core/text",
    "@sluice/core/workers"
  ],
  "packages/providers": [
    "@sluice/core",
    "@sluice/core/client",
    "@sluice/core/contract",
    "@sluice/core/media"
  ],
  "packages/rag": [
    "@sluice/core",
    "@sluice/core/contract",
    "@sluice/core/media",
    "@sluice/core/models",
    "@sluice/core/text",
    "@sluice/core/workers"
  ],
  "packages/transformers": [
    "@sluice/core",
    "@sluice/core/contract",
    "@sluice/core/models",
    "@sluice/core/text",
    "@sluice/core/workers"
  ],
  "apps/demo-server": [
    "@sluice/core",
    "@sluice/core/client",
    "@sluice/core/conformance",
    "@sluice/core/contract",
    "@sluice/core/media",
    "@sluice/core/models",
    "@sluice/core/prices",
    "@sluice/core/text",
    "@sluice/core/workers",
    "@sluice/embedded",
    "@sluice/embedded/media",
    "@sluice/embedded/vision",
    "@sluice/providers",
    "@sluice/rag",
    "@sluice/rag/evaluation",
    "@sluice/rag/formats",
    "@sluice/rag/retrieval",
    "@sluice/rag/store",
    "@sluice/transformers"
  ]
}

/** Modules that access the network. */
export const network =
  /^(undici|node:(http2?|https|net|tls)|effect\/http(-api)?(\/.*)?|@sluice\/core\/client)$/

/** Libraries that only one file may import, so that replacing one changes one file. */
export const singleHome = ["@lancedb/lancedb", "#lancedb", "@embedpdf/pdfium", "undici"] as const

/** Folders of pure contracts. */
export const pure = ["packages/core/src/contract/", "apps/demo-server/src/contract/"] as const

/** The entry that must not load a transport. */
export const transportFree = "packages/core/src/index.ts"

export const MAX_LINES = 400
export const MAX_FILES = 20
export const MAX_FUNCTION_LINES = 100

/** Where a layout rule does not hold. The first two are conventions; remove the others, and add none. */
export const exceptions: ReadonlyArray<string> = [
  // A module of a service exports its layers by these names.
  "layer:",
  "layerConfig:"
]

/** File names that say nothing about their contents. */
export const emptyName = /^(utils?|commons?|helpers?|misc)(\W|$)/i
