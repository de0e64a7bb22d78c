/** Lets one process at a time fetch a model: two would write the same parts. */
import { join } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import { InvalidRequest } from "@sluice/core"
import { Effect } from "effect"
import type { CatalogueModel } from "../catalogue/CatalogueModel.ts"
import { modelFailure, onFiles } from "./ModelFolder.ts"

/** SQLite's code where another connection has the lock. */
const SQLITE_BUSY = 5

const BUSY = "Another pull of this model is running. Wait until it has ended, and pull again"

/** Undefined where the file system has no locks or cannot be written. */
const lock = async (folder: string): Promise<DatabaseSync | "busy" | undefined> => {
  const { DatabaseSync } = await import("node:sqlite")
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(join(folder, "pull.lock"))
    database.exec("BEGIN EXCLUSIVE")
    return database
  } catch (cause) {
    database?.close()
    return (cause as { readonly errcode?: number }).errcode === SQLITE_BUSY ? "busy" : undefined
  }
}

/** Holds the lock of a model's folder until the scope closes. The operating system releases that of a process that was killed. */
export const lockFolder = Effect.fnUntraced(function* (model: CatalogueModel, folder: string) {
  const held = yield* Effect.acquireRelease(
    onFiles(model, () => lock(folder)),
    (database) => Effect.sync(() => typeof database === "object" && database.close())
  )
  if (held === "busy") return yield* modelFailure(model, new InvalidRequest({ message: BUSY }))
})
