/** `sluice models`: neural models that run on this machine. */
import { GatewayError, InvalidRequest } from "@sluice/core"
import {
  bytesOf,
  damagedFiles,
  findModels,
  folderOf,
  Local,
  memoryShortage,
  modelCatalogue,
  modelsFolder,
  removeModel
} from "@sluice/transformers"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { isPulled, listLocalModels, pullNamed } from "../../providers/LocalModels.ts"
import {
  findLocalServers,
  gatewayVariables,
  type LocalServer,
  parsePorts
} from "../../providers/LocalServers.ts"
import { examples, jsonFlag, optionalFlag } from "../library/Flags.ts"
import { note, printResult, progressBar, setExitCode } from "../output/Output.ts"

const MEGABYTE = 1e6
const inMegabytes = (bytes: number): number => Math.round(bytes / MEGABYTE)

const nameArgument = (description: string) =>
  Argument.String("name").pipe(Argument.withDescription(description))

const pullCommand = Command.make(
  "pull",
  {
    name: nameArgument("A set (small, better, answers) or a model. Default: small").pipe(
      Argument.withDefault("small")
    ),
    from: optionalFlag(
      Flag.Path("from", { mustExist: true }),
      "Copy the files from this folder, without a network"
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ from, json, name }) {
    const { sets } = yield* modelCatalogue
    const models = yield* findModels(name)
    const chat = models.filter(({ kind }) => kind === "chat")
    const shortage = memoryShortage(bytesOf(chat))
    if (shortage !== undefined) yield* note(`The chat model may not run here. ${shortage}`)
    const install = Local.missingRuntime(models.map(({ kind }) => kind))
    const show = yield* progressBar("Pulling")
    const pulled = yield* pullNamed(name, {
      ...(Option.isSome(from) && { from: from.value }),
      onProgress: (done, total, model) => show(inMegabytes(done), inMegabytes(total), `MB  ${model}`)
    })
    yield* printResult(json, { models: pulled }, () =>
      [
        ...pulled.map(({ bytes, folder, id }) => `${id}  ${inMegabytes(bytes)} MB  ${folder}`),
        ...(install === undefined ? [] : [`They need a runtime: ${install}.`]),
        // The setting names a set.
        ...(Object.hasOwn(sets, name) ? [`Then set SLUICE_LOCAL_MODELS=${name}.`] : [])
      ].join("\n")
    )
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Download models and check them. An interrupted download continues. SLUICE_MODEL_HUB names a mirror of " +
      "Hugging Face. No other command downloads models"
  ),
  examples({
    "sluice models pull": "Get the small set: a multilingual embedder and a reranker, 259 MB",
    "sluice models pull answers": "The same with a chat model that writes answers, 1.4 GB",
    "sluice models pull small --from /media/usb/models": "Copy it from a folder"
  })
)

const renderServer = (server: LocalServer): string => {
  const { models, name, url } = server
  const names = models.map(({ id }) => id).join(", ")
  const variables = gatewayVariables(server)
  return [
    `${name} is running at ${url} with ${names || "no models"}.`,
    variables === undefined
      ? "  It has no embedding model, which is needed to use it as the gateway"
      : `  To use it: ${variables}`
  ].join("\n")
}

const invalidPort = (message: string) =>
  new GatewayError({ operation: "models", reason: new InvalidRequest({ message: `--port ${message}` }) })

const listCommand = Command.make(
  "list",
  {
    port: optionalFlag(
      Flag.KeyValuePair("port"),
      `NAME=PORT: where a model server listens, if not on its usual port, such as ollama=12000. Repeatable`
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ json, port }) {
    const ports = yield* Effect.mapError(
      parsePorts(Object.entries(Option.getOrElse(port, () => ({})))),
      invalidPort
    )
    const { folder, models } = yield* listLocalModels
    const servers = yield* findLocalServers(ports)
    yield* printResult(json, { folder, models, servers }, () =>
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
        `Pulled models (✓) are in ${folder}.`,
        ...servers.map(renderServer)
      ].join("\n")
    )
  })
).pipe(
  Command.withDescription(
    "List the catalogue, which models are here, and the model servers that run on this machine, none of which is used unless configured"
  )
)

const verifyCommand = Command.make(
  "verify",
  {
    name: nameArgument("A set or a model. Default: all pulled ones").pipe(Argument.optional),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ json, name }) {
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
  Effect.fnUntraced(function* ({ json, name }) {
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
