/** The folder of a store. */
import { mkdir, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { Effect } from "effect"
import { formatValue } from "../../document/Arguments.ts"
import { RagError, type RagReason } from "../../document/RagError.ts"

/** Fails with `Malformed` for a value that is no path or address. */
export const checkFolder = (folder: unknown): Effect.Effect<void, RagError> => {
  if (typeof folder === "string" && folder !== "" && !folder.includes("\0")) return Effect.void
  const message = `${formatValue(folder)} is not the path of a folder. Give one, or an address that begins with s3://, gs://, az:// or db://.`
  return Effect.fail(new RagError({ stage: "open", reason: "Malformed", message }))
}

/** Creates a folder and its parents. */
export const makeFolder = (folder: string): Effect.Effect<void, RagError> =>
  Effect.tryPromise({
    try: () => makeFolders(folder),
    catch: (cause) => {
      const [reason, message] = explain((cause as NodeJS.ErrnoException).code, folder)
      return new RagError({ stage: "open", reason, message, cause })
    }
  })

/** Node's `recursive` never returns where nothing can be created, as below `/proc`. */
const makeFolders = async (folder: string): Promise<void> => {
  if (await isFolder(folder)) return
  if (dirname(folder) !== folder) await makeFolders(dirname(folder))
  await mkdir(folder).catch(async (cause) => {
    // Another process may have created it.
    if (!(await isFolder(folder))) throw cause
  })
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false
  )

const explain = (code = "", folder: string): readonly [RagReason, string] => {
  if (code === "EEXIST" || code === "ENOTDIR")
    return ["Malformed", `${folder} is a file, or is below a file. Give the path of a folder.`]
  if (code === "ENOSPC")
    return ["NoSpace", `The folder ${folder} cannot be created: the disk is full. Free some space.`]
  const reason = ["EACCES", "EPERM", "EROFS"].includes(code) ? "PermissionDenied" : "Store"
  return [reason, `The folder ${folder} cannot be created (${code}). Choose one that this user may write.`]
}
