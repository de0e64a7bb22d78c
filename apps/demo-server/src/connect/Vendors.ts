/** The vendors that a server can be connected to, and what each has. */
import type { Dialect, OperationName } from "@sluice/providers"
import { Struct } from "effect"

/** The operations, in the order of tables. */
export const OPERATION_COLUMNS = {
  embeddings: "embed",
  rerank: "rerank",
  chat: "chat",
  images: "images",
  videos: "videos"
} as const satisfies Record<OperationName, string>

export const OPERATION_NAMES = Struct.keys(OPERATION_COLUMNS)

export const vendorOf = (dialect: Dialect) => ({
  ...Struct.pick(dialect, ["id", "name", "url", "keyVariable"]),
  operations: OPERATION_NAMES.filter((operation) => dialect.operations[operation] !== undefined)
})

export type Vendor = ReturnType<typeof vendorOf>

/** One row for each vendor. */
export const vendorRows = (vendors: ReadonlyArray<Vendor>): ReadonlyArray<ReadonlyArray<string>> => [
  ["vendor", ...Object.values(OPERATION_COLUMNS), "variable of the key", "address"],
  ...vendors.map(({ id, keyVariable = "–", operations, url = "–" }) => [
    id,
    ...OPERATION_NAMES.map((operation) => (operations.includes(operation) ? "✓" : "")),
    keyVariable,
    url
  ])
]
