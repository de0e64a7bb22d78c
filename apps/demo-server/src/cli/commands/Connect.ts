/** `sluice connect`: asks for what is missing, tries the vendor, and saves it. */
import { apiKey as makeApiKey, ApiKey } from "@sluice/core"
import { Dialects } from "@sluice/providers"
import { Config, Effect, Option, Redacted, Schema, Struct } from "effect"
import { Argument, Command, Flag, Prompt } from "effect/cli"
import { dirname } from "node:path"
import { ServerConfig } from "../../config/ServerConfig.ts"
import { StartError } from "../../config/StartError.ts"
import { type KeySource, prepareConnection } from "../../connect/VendorConnection.ts"
import { connectionsFile, idOf, saveConnection } from "../../connect/SaveConnection.ts"
import { ConnectionId, type OfferedModel, type TryResult } from "../../contract/Connections.ts"
import { planTries, proposedModels, tryVendor } from "../../connect/TryVendor.ts"
import { isServed } from "../../database/Database.ts"
import { OPERATION_NAMES, OPERATION_COLUMNS, type Vendor, vendorOf } from "../../connect/Vendors.ts"
import type { LibraryNames } from "../../providers/ProvidersFile.ts"
import { readProviders } from "../../providers/ProvidersSettings.ts"
import { booleanFlag, dataFlag, examples, jsonFlag, optionalFlag } from "../library/Flags.ts"
import { mostSimilar } from "../library/FindDocument.ts"
import { configLayer } from "../library/OpenLibrary.ts"
import { note, printResult, setExitCode } from "../output/Output.ts"

/** What the library does with each model. */
const USE_TITLES = {
  embedding: "to search your documents",
  rerank: "to rank what was found",
  chat: "to answer",
  vision: "to look at figures"
} as const satisfies { readonly [use in keyof LibraryNames]: string }

const USES = Struct.keys(USE_TITLES)

const UNTRIED = "It makes images and videos only, which are tried with --media."

const chooseVendor = (vendors: ReadonlyArray<Vendor>) =>
  Prompt.AutoComplete({
    message: "Which vendor?",
    choices: vendors.map(({ id, name, operations }) => ({
      title: name,
      value: id,
      description: operations.map((operation) => OPERATION_COLUMNS[operation]).join(", ")
    }))
  })

const typeKey = Prompt.Hidden({
  message: "The key (it is not shown)",
  validate: (text) =>
    Effect.mapBoth(Schema.decodeUnknownEffect(ApiKey)(text), {
      onFailure: () => "A key is one word. Type it again",
      onSuccess: () => text
    })
})

/** Asks where the key is. Undefined: in the vendor's own variable, or there is none. */
const askKey = Effect.fnUntraced(function* ({ keyVariable, name }: Vendor) {
  const found = keyVariable === undefined ? Option.none() : yield* Config.option(Config.String(keyVariable))
  const place = yield* Prompt.Select<"default" | "typed" | "variable">({
    message: `Where is the key of ${name}?`,
    choices: [
      ...(Option.isSome(found)
        ? [{ title: `In ${keyVariable}, which is set`, value: "default" as const }]
        : []),
      ...(keyVariable === undefined ? [{ title: "It needs none", value: "default" as const }] : []),
      { title: "I type it. It is kept in a file that only you can read", value: "typed" },
      { title: "In another environment variable", value: "variable" }
    ]
  })
  if (place === "default") return keyVariable === undefined ? undefined : { env: keyVariable }
  const key: KeySource =
    place === "typed"
      ? { typed: makeApiKey(Redacted.value(yield* typeKey)) }
      : { env: yield* Prompt.String({ message: "The name of the variable" }) }
  return key
})

/** Asks for the name of a second connection. Undefined: the first one is changed. */
const askName = Effect.fnUntraced(function* ({ id, name }: Vendor) {
  const isName = Schema.is(ConnectionId)
  const typed = yield* Prompt.String({
    message: `${name} is connected. A name for a second connection (empty: change ${id})`,
    validate: (text) =>
      text === "" || isName(text) ? Effect.succeed(text) : Effect.fail("Up to 64 letters, digits and . : _ -")
  })
  return typed === "" ? undefined : typed
})

/** `--model rerank=NAME`. */
const parseModels = (given: Readonly<Record<string, string>>) =>
  Effect.forEach(Object.entries(given), ([name, id]) => {
    const operation = OPERATION_NAMES.find((known) => known === name)
    return operation === undefined
      ? Effect.fail(`--model ${name}=${id}: the operations are ${OPERATION_NAMES.join(", ")}`)
      : Effect.succeed<OfferedModel>({ id, operation })
  })

/** Asks for a model of each operation: the vendor lists none. */
const askModels = Effect.fnUntraced(function* ({ name, operations }: Vendor) {
  const models: Array<OfferedModel> = []
  for (const operation of operations) {
    const message = `${name} lists no models. One for ${operation} (empty: none)`
    const id = (yield* Prompt.String({ message })).trim()
    if (id !== "") models.push({ id, operation })
  }
  return models
})

/** The uses that `--use` names. Undefined: it is not given. */
const parseUses = (given: Option.Option<string>) => {
  const names = Option.getOrUndefined(given)
    ?.split(",")
    .map((name) => name.trim())
  const unknown = names?.find((name) => name !== "none" && !USES.some((use) => use === name))
  return unknown === undefined
    ? Effect.succeed(names)
    : Effect.fail(`--use ${unknown}: choose from ${USES.join(", ")}, or none`)
}

/** The models that the library takes: those that were agreed to, or those for uses without a model yet. */
const chooseLibrary = Effect.fnUntraced(function* (
  offered: LibraryNames,
  now: LibraryNames,
  uses: ReadonlyArray<string> | undefined,
  asks: boolean
) {
  const chosen: Partial<Record<keyof LibraryNames, string>> = {}
  for (const use of USES) {
    const model = offered[use]
    if (model === undefined || model === now[use]) continue
    const instead = now[use] === undefined ? "" : ` instead of ${now[use]}`
    const message = `Use ${model} ${USE_TITLES[use]}${instead}?`
    const isFree = now[use] === undefined
    const takes = uses?.includes(use) ?? (asks ? yield* Prompt.Confirm({ message, initial: isFree }) : isFree)
    if (takes) chosen[use] = model
  }
  return chosen
})

const renderTry = ({ message = "", model, ok, operation }: TryResult) =>
  ok ? `✓ ${operation}  ${model}` : `✗ ${operation}  ${model}: ${message}`

const flags = {
  vendor: Argument.String("vendor").pipe(
    Argument.withDescription("A vendor of `sluice providers`. Default: it is asked for"),
    Argument.optional
  ),
  id: optionalFlag(Flag.String("id"), "Its name in the file, to have one vendor twice. Default: the vendor"),
  url: optionalFlag(Flag.String("url"), "Its address. Default: the vendor's"),
  keyEnv: optionalFlag(Flag.String("key-env"), "The variable that has the key. Default: the vendor's"),
  keyFile: optionalFlag(Flag.Path("key-file", { mustExist: true }), "The file that has the key"),
  model: optionalFlag(
    Flag.KeyValuePair("model"),
    "OPERATION=NAME: a model, for a vendor that does not list them. Repeatable"
  ),
  use: optionalFlag(
    Flag.String("use"),
    `What the library takes: ${USES.join(",")}, or none. Default: uses that have no model yet`
  ),
  media: booleanFlag("media", "Try an image and a video too, which cost more"),
  data: dataFlag,
  json: jsonFlag
}

/** An error is a sentence. */
const connect = Effect.fnUntraced(function* (given: Command.Command.Config.Infer<typeof flags>) {
  const asks = process.stdin.isTTY === true && Option.isNone(given.vendor)
  const vendors = (yield* Dialects).map(vendorOf)
  const uses = yield* parseUses(given.use)
  const file = yield* connectionsFile
  if (!asks && Option.isNone(given.vendor)) {
    return yield* Effect.fail(`Name a vendor: ${vendors.map(({ id }) => id).join(", ")}`)
  }
  const id = Option.isSome(given.vendor) ? given.vendor.value : yield* chooseVendor(vendors)
  const vendor = vendors.find((one) => one.id === id)
  if (vendor === undefined) {
    const [similar] = mostSimilar(id.toLowerCase(), vendors, (one) => one.id)
    const compatible = `sluice connect openai --id ${id} --url ADDRESS --key-env VARIABLE`
    const advice =
      similar === undefined
        ? `Run: sluice providers. If it has OpenAI's protocol: ${compatible}`
        : `Did you mean \`${similar.id}\`?`
    return yield* Effect.fail(`${id} is no vendor. ${advice}`)
  }
  const { content } = yield* readProviders(file)
  const connected = (name: string) => content.upstreams?.find((entry) => idOf(entry) === name)
  const asksName = asks && Option.isNone(given.id) && connected(id) !== undefined
  const name = asksName ? yield* askName(vendor) : Option.getOrUndefined(given.id)
  const places = [
    ...Option.toArray(Option.map(given.keyEnv, (env) => ({ env }))),
    ...Option.toArray(Option.map(given.keyFile, (path) => ({ file: path })))
  ]
  if (places.length > 1) return yield* Effect.fail("Name one place of the key: --key-env or --key-file")
  const needsUrl = vendor.url === undefined || vendor.keyVariable === undefined
  const asked = Prompt.String({ message: "Its address", default: vendor.url ?? "" })
  const url = Option.getOrUndefined(given.url) ?? (asks && needsUrl ? yield* asked : undefined)
  const key = places[0] ?? (asks ? yield* askKey(vendor) : undefined)
  const models = Option.isNone(given.model) ? undefined : yield* parseModels(given.model.value)
  const saved = connected(name ?? id)
  const connection = { vendor: id, id: name, url: url === vendor.url ? undefined : url, key, models }
  const prepare = (more: object) => prepareConnection({ ...connection, ...more }, dirname(file), saved)
  const listed = yield* prepare({})
  const isUnknown = listed.models.length === 0
  const prepared = isUnknown && asks ? yield* prepare({ models: yield* askModels(vendor) }) : listed
  if (prepared.models.length === 0) {
    return yield* Effect.fail(
      `${vendor.name} lists no models. Name them: --model ${vendor.operations[0]}=NAME`
    )
  }
  const tries = planTries(prepared.models, given.media)
  yield* note(tries.length === 0 ? UNTRIED : "Trying the smallest calls:")
  for (const { cost, id, operation } of tries) yield* note(`  ${operation}  ${id}  ${cost}`)
  const results = yield* tryVendor(prepared, tries)
  for (const result of results) yield* note(renderTry(result))
  if (results.length > 0 && results.every(({ ok }) => !ok)) {
    return yield* Effect.fail(`Nothing was saved, because no call succeeded. ${results[0]?.message ?? ""}`)
  }
  const offered = proposedModels(prepared.models, results)
  const library = yield* chooseLibrary(offered, content.library ?? {}, uses, asks)
  yield* saveConnection({ ...prepared, library })
  if (results.some(({ ok }) => !ok)) yield* setExitCode
  const served = yield* isServed((yield* ServerConfig).data)
  yield* printResult(given.json, { file, id: prepared.id, tries: results, library }, () =>
    [
      `Saved in ${file}. ${served ? "The running server uses it at once" : "Commands and the next server use it"}.`,
      ...USES.flatMap((use) => (library[use] === undefined ? [] : [`  ${library[use]} ${USE_TITLES[use]}`])),
      ...(library.embedding === undefined ? [] : ["Documents that are there need: sluice rebuild"])
    ].join("\n")
  )
})

export const connectCommand = Command.make("connect", flags, (given) =>
  connect(given).pipe(
    Effect.catchTag("QuitError", () => Effect.interrupt),
    Effect.mapError((error) => (typeof error === "string" ? new StartError({ message: error }) : error)),
    Effect.provide(configLayer(given))
  )
).pipe(
  Command.withDescription(
    "Connect a vendor of models: try one call of each kind, and save it. It asks for what is missing"
  ),
  examples({
    "sluice connect": "Choose the vendor and say where the key is",
    "sluice connect openai --key-env MY_KEY": "Without questions",
    "sluice connect ollama --url http://gpu:11434/v1": "A server in your network"
  })
)
