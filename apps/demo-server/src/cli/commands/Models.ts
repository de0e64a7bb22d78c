/** `sluice models`: neural models that run on this machine. */
import {
  bytesOf,
  type CatalogueModel,
  damagedFiles,
  findModels,
  folderOf,
  missingFiles,
  modelCatalogue,
  modelsFolder,
  pullModel,
  removeModel
} from "@sluice/transformers"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { layerProxiedHttpClient } from "../../network/ProxiedHttpClient.ts"
import { examples, jsonFlag, optionalFlag } from "../library/Flags.ts"
import { printResult, progressBar, setExitCode } from "../output/Output.ts"

const MEGABYTE = 1e6
const inMegabytes = (bytes: number): number => Math.round(bytes / MEGABYTE)

const isPulled = (root: string, model: CatalogueModel) =>
  Effect.map(missingFiles(root, model), ({ length }) => length === 0)

const nameArgument = (description: string) =>
  Argument.String("name").pipe(Argument.withDescription(description))

const pullCommand = Command.make(
  "pull",
  {
    name: nameArgument("A set (small, better) or a model. Default: small").pipe(
      Argument.withDefault("small")
    ),
    from: optionalFlag(
      Flag.Path("from", { mustExist: true }),
      "Copy the files from this folder, without a network"
    ),
    json: jsonFlag
  },
  ({ from, json, name }) =>
    Effect.gen(function* () {
      const models = yield* findModels(name)
      const show = yield* progressBar("Pulling")
      const pulled = yield* Effect.forEach(models, (model) =>
        Effect.map(
          pullModel(model, {
            ...(Option.isSome(from) && { from: from.value }),
            onProgress: (done, total) => show(inMegabytes(done), inMegabytes(total), `MB  ${model.id}`)
          }),
          (folder) => ({ id: model.id, folder, bytes: bytesOf([model]) })
        )
      )
      yield* printResult(json, { models: pulled }, () =>
        [
          ...pulled.map(({ bytes, folder, id }) => `${id}  ${inMegabytes(bytes)} MB  ${folder}`),
          `They need a runtime: npm install @huggingface/transformers. Then set SLUICE_LOCAL_MODELS=${name}.`
        ].join("\n")
      )
    }).pipe(Effect.scoped, Effect.provide(layerProxiedHttpClient))
).pipe(
  Command.withDescription(
    "Download models and check them. An interrupted download continues. SLUICE_MODEL_HUB names a mirror of " +
      "Hugging Face. No other command downloads models"
  ),
  examples({
    "sluice models pull": "Get the small set: a multilingual embedder and a reranker, 259 MB",
    "sluice models pull small --from /media/usb/models": "Copy it from a folder"
  })
)

const listCommand = Command.make("list", { json: jsonFlag }, ({ json }) =>
  Effect.gen(function* () {
    const root = yield* modelsFolder
    const { models: known, sets } = yield* modelCatalogue
    const models = yield* Effect.forEach(known, (model) =>
      Effect.map(isPulled(root, model), (pulled) => ({
        ...model,
        sets: Object.keys(sets).filter((name) => sets[name]?.includes(model.id)),
        bytes: bytesOf([model]),
        pulled
      }))
    )
    yield* printResult(json, { folder: root, models }, () =>
      [
        ...models.map(({ bytes, id, kind, languages, licence, pulled, sets }) =>
          [
            pulled ? "✓" : " ",
            id.padEnd(22),
            kind.padEnd(8),
            sets.join(", ").padEnd(6),
            `${inMegabytes(bytes)} MB`.padStart(6),
            licence.padEnd(10),
            languages
          ].join("  ")
        ),
        `Pulled models (✓) are in ${root}.`
      ].join("\n")
    )
  })
).pipe(Command.withDescription("List the catalogue, and which models are here"))

const verifyCommand = Command.make(
  "verify",
  {
    name: nameArgument("A set or a model. Default: all pulled ones").pipe(Argument.optional),
    json: jsonFlag
  },
  ({ json, name }) =>
    Effect.gen(function* () {
      const root = yield* modelsFolder
      const models = Option.isSome(name)
        ? yield* findModels(name.value)
        : yield* Effect.filter((yield* modelCatalogue).models, (model) => isPulled(root, model))
      const results = yield* Effect.forEach(models, (model) =>
        Effect.map(damagedFiles(root, model), (damaged) => ({
          id: model.id,
          damaged: damaged.map(({ path }) => path)
        }))
      )
      yield* printResult(json, { models: results }, () =>
        results.length === 0
          ? "No models are here. Run: sluice models pull"
          : results
              .map(({ damaged, id }) =>
                damaged.length === 0
                  ? `${id}: every file has its checksum`
                  : `${id}: missing or damaged: ${damaged.join(", ")}. Run: sluice models pull ${id}`
              )
              .join("\n")
      )
      if (results.some(({ damaged }) => damaged.length > 0)) yield* setExitCode
    })
).pipe(Command.withDescription("Check every file against its SHA-256. The exit code is 1 if one differs"))

const removeCommand = Command.make(
  "remove",
  { name: nameArgument("A set or a model"), json: jsonFlag },
  ({ json, name }) =>
    Effect.gen(function* () {
      const root = yield* modelsFolder
      const models = yield* findModels(name)
      yield* Effect.forEach(models, (model) => removeModel(root, model))
      const removed = models.map((model) => folderOf(root, model))
      yield* printResult(json, { removed }, () => `Removed:\n${removed.join("\n")}`)
    })
).pipe(Command.withDescription("Delete models from this machine"))

export const modelsCommand = Command.make("models").pipe(
  Command.withDescription("Neural models that run on this machine, without a key"),
  Command.withSubcommands([pullCommand, listCommand, verifyCommand, removeCommand])
)
