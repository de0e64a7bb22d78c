/** The folder of a store, and whether an object store keeps what several writers commit. */
import { Field, Float64, Schema } from "apache-arrow"
import { randomUUID } from "node:crypto"
import { mkdir, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { Effect } from "effect"
import { formatValue } from "../../document/Arguments.ts"
import { RagError, type RagReason } from "../../document/RagError.ts"
import { attempt, isEnterprise, isRemote, type Store } from "./Lance.ts"

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

/** Commits of one row that are made at the same time. If the store ignores `If-None-Match`, some overwrite others. */
const PROBES = 6

const WRITERS = "Use a store with conditional writes, such as S3, Google Cloud Storage, Azure or Ceph RGW"

/** Before a library is created on an object store: fails with `Malformed` if the store would lose commits. */
export const checkConditionalWrites = Effect.fn("LanceFolder.checkConditionalWrites")(function* ({
  connection,
  folder
}: Store) {
  if (!isRemote(folder) || isEnterprise(folder)) return
  const doing = "trying simultaneous writes"
  const tables = yield* attempt("open", "listing tables", () => connection.tableNames({ limit: 100_000 }))
  if (tables.includes("collections")) return
  const name = `probe_${randomUUID().replaceAll("-", "")}`
  const rows = yield* attempt("open", doing, async () => {
    await connection.createEmptyTable(name, new Schema([new Field("n", new Float64(), false)]))
    const writers = await Promise.all(Array.from({ length: PROBES }, () => connection.openTable(name)))
    await Promise.all(writers.map((writer, n) => writer.add([{ n }])))
    return (await connection.openTable(name)).countRows()
  }).pipe(
    Effect.ensuring(Effect.ignore(attempt("open", doing, () => connection.dropTable(name)))),
    Effect.catchIf(
      ({ cause }) => REFUSED.test(String(cause)),
      (error) => unsafeStore(`${folder} refuses writes with \`If-None-Match\`. ${WRITERS}.`, error)
    )
  )
  if (rows === PROBES) return
  return yield* unsafeStore(
    `${folder} ignores \`If-None-Match\`: of ${PROBES} simultaneous writes ${rows} are there, so two writers would lose documents silently. ${WRITERS}.`
  )
})

/** A status 501, in words or as a number. */
const REFUSED = /not ?implemented|status(?: code)?:? 501\b/i

const unsafeStore = (message: string, cause?: unknown) =>
  Effect.fail(new RagError({ stage: "open", reason: "Malformed", message, cause }))
