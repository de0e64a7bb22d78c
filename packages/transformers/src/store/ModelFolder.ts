/** Where pulled models are, and whether their files are whole. */
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { rm, stat } from "node:fs/promises"
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"
import { GatewayError, type GatewayReason, InvalidRequest } from "@sluice/core"
import { Config, Effect } from "effect"
import { type CatalogueModel, storedPath } from "../catalogue/CatalogueModel.ts"

/** `$XDG_CACHE_HOME/sluice/models`, else `~/.cache/sluice/models`: once for each user. */
export const modelsFolder: Effect.Effect<string> = Config.String("XDG_CACHE_HOME").pipe(
  Config.withDefault(""),
  Config.map((cache) => join(isAbsolute(cache) ? cache : join(homedir(), ".cache"), "sluice", "models")),
  Effect.orDie
)

export const modelFailure = (model: CatalogueModel, reason: GatewayReason): GatewayError =>
  new GatewayError({ operation: "models", model: model.id, reason })

/** Runs a step on files. Its failure names the operating system's reason, such as a full disk. */
export const onFiles = <A>(model: CatalogueModel, step: () => Promise<A>): Effect.Effect<A, GatewayError> =>
  Effect.tryPromise({
    try: step,
    catch: (cause) =>
      modelFailure(
        model,
        new InvalidRequest({ message: cause instanceof Error ? cause.message : String(cause) })
      )
  })

/** The folder of one model. Another commit of it has another folder. */
export const folderOf = (root: string, { id, revision }: CatalogueModel): string =>
  join(root, `${id}-${revision.slice(0, 8)}`)

/** The size of a file; 0 if it does not exist. */
export const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    (cause: NodeJS.ErrnoException) => {
      if (cause.code === "ENOENT" || cause.code === "ENOTDIR") return 0
      throw cause
    }
  )

export const sha256Of = async (path: string): Promise<string> => {
  const hash = createHash("sha256")
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest("hex")
}

/** The files that are missing or have another size. It reads no contents. */
export const missingFiles = (root: string, model: CatalogueModel) =>
  Effect.filter(model.files, (file) =>
    Effect.map(
      onFiles(model, () => sizeOf(join(folderOf(root, model), storedPath(file)))),
      (size) => size !== file.bytes
    )
  )

/** The files whose contents are not those of the catalogue, or that are missing. */
export const damagedFiles = Effect.fn("models.verify")(function* (root: string, model: CatalogueModel) {
  const missing = yield* missingFiles(root, model)
  return yield* Effect.filter(model.files, (file) => {
    const path = join(folderOf(root, model), storedPath(file))
    return missing.includes(file)
      ? Effect.succeed(true)
      : Effect.map(
          onFiles(model, () => sha256Of(path)),
          (sha256) => sha256 !== file.sha256
        )
  })
})

/** Removes a model, and what an interrupted pull left of it. */
export const removeModel = (root: string, model: CatalogueModel) =>
  onFiles(model, () => rm(folderOf(root, model), { recursive: true, force: true }))
