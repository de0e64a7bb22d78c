/** Fetches a model of the catalogue, from a hub or from a folder. */
import { withoutFinalSlash } from "@sluice/core/contract"
import { copyFile, mkdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import { InvalidRequest } from "@sluice/core"
import { Config, Effect } from "effect"
import { bytesOf, type CatalogueFile, type CatalogueModel, storedPath } from "../catalogue/CatalogueModel.ts"
import { downloadFile, keepIfComplete } from "./Download.ts"
import { lockFolder } from "./FolderLock.ts"
import { damagedFiles, folderOf, modelFailure, modelsFolder, onFiles, sizeOf } from "./ModelFolder.ts"

/** The address of the hub: `SLUICE_MODEL_HUB`, a mirror with the same paths, or Hugging Face. */
const modelHub = Effect.fnUntraced(function* (model: CatalogueModel) {
  const hub = yield* Effect.orDie(
    Config.String("SLUICE_MODEL_HUB").pipe(Config.withDefault("https://huggingface.co"))
  )
  const url = URL.parse(hub)
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === "")
    return withoutFinalSlash(url.href)
  const message = "SLUICE_MODEL_HUB must be an http or https address without a credential"
  return yield* modelFailure(model, new InvalidRequest({ message }))
})

export interface PullOptions {
  /** A folder that has the files: one that `pull` filled elsewhere, or copies of the repositories. */
  readonly from?: string
  /** Bytes of the model that are here, and all of it. */
  readonly onProgress?: (done: number, total: number) => Effect.Effect<void>
}

/**
 * Fetches what is missing or damaged of a model, and gives its folder.
 *
 * **Details.** Every file is checked against the catalogue's SHA-256. An interrupted download continues at the next call.
 * Nothing is fetched if the files are whole. Fails if another process is pulling the model.
 */
export const pullModel = Effect.fn("models.pull")(function* (
  model: CatalogueModel,
  { from, onProgress = () => Effect.void }: PullOptions = {}
) {
  const root = yield* modelsFolder
  const folder = folderOf(root, model)
  yield* onFiles(model, () => mkdir(folder, { recursive: true }))
  yield* lockFolder(model, folder)
  const wanted = yield* damagedFiles(root, model)
  const total = bytesOf([model])
  let done = total - wanted.reduce((sum, { bytes }) => sum + bytes, 0)
  yield* onProgress(done, total)
  for (const file of wanted) {
    const target = join(folder, storedPath(file))
    yield* onFiles(model, () => mkdir(dirname(target), { recursive: true }))
    if (from === undefined) {
      const url = `${yield* modelHub(model)}/${model.repository}/resolve/${model.revision}/${file.path}`
      yield* downloadFile(model, file, url, target, (bytes) => onProgress(done + bytes, total))
    } else yield* copyIn(model, file, from, target)
    done += file.bytes
    yield* onProgress(done, total)
  }
  return folder
}, Effect.scoped)

const copyIn = Effect.fnUntraced(function* (
  model: CatalogueModel,
  file: CatalogueFile,
  from: string,
  target: string
) {
  const places = [join(folderOf(from, model), storedPath(file)), join(from, model.repository, file.path)]
  for (const place of places) {
    if ((yield* onFiles(model, () => sizeOf(place))) === 0) continue
    const part = `${target}.part`
    yield* onFiles(model, () => copyFile(place, part))
    return yield* keepIfComplete(model, file, part, target, place)
  }
  const message = `${from} has no ${file.path} of this model. Looked for ${places.join(" and ")}`
  return yield* modelFailure(model, new InvalidRequest({ message }))
})
