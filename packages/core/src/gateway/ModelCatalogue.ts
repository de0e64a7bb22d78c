/** The group of each model, from configuration. The interface lists groups without names of models. */
import { Config, Context, Effect, FileSystem, Layer, Option, Schema } from "effect"
import { GatewayError, InvalidRequest } from "../contract/GatewayError.ts"
import { MODEL_GROUPS, type ModelGroup } from "../contract/Models.ts"

/**
 * The models of each group: `{ "V-D": ["wave-2.6", "wave-2.5*"], "rerank": ["rr-*"] }`.
 *
 * **Details.** A name ending in `*` is a prefix. An exact name takes precedence over a prefix, and a longer prefix over a
 * shorter one. A name may be in only one group.
 */
type ModelTable = { readonly [G in ModelGroup]?: ReadonlyArray<string> }

const isGroup = (name: string): name is ModelGroup => MODEL_GROUPS.some((group) => group === name)

/** The fault of a table: a duplicate name or an unknown group. */
const faultOf = (table: Readonly<Record<string, ReadonlyArray<string>>>): string | undefined => {
  const groups = new Map<string, string>()
  for (const [group, names] of Object.entries(table)) {
    if (!isGroup(group)) return `\`${group}\` is not a group of models: ${MODEL_GROUPS.join(", ")}`
    for (const name of names) {
      const other = groups.get(name)
      if (other !== undefined) {
        return other === group
          ? `\`${name}\` is listed twice in ${group}`
          : `\`${name}\` is listed in ${other} and in ${group}; a model has one group`
      }
      groups.set(name, group)
    }
  }
  return undefined
}

const ModelTable = Schema.Record(Schema.String, Schema.Array(Schema.NonEmptyString)).check(
  Schema.makeFilter((table) => faultOf(table) ?? true)
)

const decodeTable = Schema.decodeUnknownEffect(Schema.fromJsonString(ModelTable))

const catalogueOf = (table: ModelTable): ModelCatalogue["Service"] => {
  const entries = MODEL_GROUPS.flatMap((group) => (table[group] ?? []).map((name) => [name, group] as const))
  const exact = new Map(entries.filter(([name]) => !name.endsWith("*")))
  const prefixes = entries
    .filter(([name]) => name.endsWith("*"))
    .map(([name, group]) => [name.slice(0, -1), group] as const)
    .toSorted(([a], [b]) => b.length - a.length)
  return {
    table,
    groupOf: (model) =>
      Option.fromUndefinedOr(exact.get(model) ?? prefixes.find(([prefix]) => model.startsWith(prefix))?.[1])
  }
}

const VARIABLE = "SLUICE_MODEL_GROUPS"

const refuse = (fault: string) =>
  new GatewayError({
    operation: "configure",
    reason: new InvalidRequest({ message: `${VARIABLE}: ${fault}`, param: VARIABLE })
  })

/**
 * The group of each model.
 *
 * **When to use.** To choose the typed call of a model that is known only at run time.
 *
 * **Details.** Provided to a client's layer or to single calls, it makes the client check image and video calls without a
 * `group` as calls of their model's group.
 *
 * ```ts
 * const { groupOf } = yield* ModelCatalogue
 * const { availableModels } = yield* Account
 * const videos = (yield* availableModels).filter(({ id }) => Option.contains(groupOf(id), "V-D"))
 * ```
 */
export class ModelCatalogue extends Context.Service<
  ModelCatalogue,
  {
    /** The group of a model; none if the table does not list it. */
    readonly groupOf: (model: string) => Option.Option<ModelGroup>
    readonly table: ModelTable
  }
>()("@sluice/core/ModelCatalogue") {
  /** Throws if a name is listed twice. */
  static readonly make = (table: ModelTable): ModelCatalogue["Service"] => {
    const fault = faultOf(table)
    if (fault !== undefined) throw new RangeError(`ModelCatalogue: ${fault}`)
    return catalogueOf(table)
  }

  static readonly layer = (table: ModelTable): Layer.Layer<ModelCatalogue> =>
    Layer.sync(ModelCatalogue, () => ModelCatalogue.make(table))

  /**
   * The table in `SLUICE_MODEL_GROUPS`: JSON, or the path of a JSON file. Empty if the variable is not set.
   *
   * An invalid table or an unreadable file fails with `GatewayError`.
   */
  static readonly layerConfig: Layer.Layer<
    ModelCatalogue,
    GatewayError | Config.ConfigError,
    FileSystem.FileSystem
  > = Layer.effect(
    ModelCatalogue,
    Effect.gen(function* () {
      const set = Option.getOrElse(yield* Config.option(Config.String(VARIABLE)), () => "").trim()
      if (set === "") return catalogueOf({})
      const files = yield* FileSystem.FileSystem
      const text = set.startsWith("{")
        ? set
        : yield* Effect.mapError(files.readFileString(set), () =>
            refuse(`neither JSON, which starts with {, nor a readable file: ${set.slice(0, 80)}`)
          )
      const table = yield* Effect.mapError(decodeTable(text), (error) =>
        refuse(`${error.message.replace(/\s+/g, " ")}. Expected a table such as {"rerank": ["a model"]}.`)
      )
      return catalogueOf(table)
    })
  )
}
