/** Which group a model is of. The interface lists groups without the models' names: who uses a gateway knows them. */
import { Config, Context, Effect, FileSystem, Layer, Option, Schema } from "effect"
import { GatewayError, InvalidRequest } from "../contract/GatewayError.ts"
import { MODEL_GROUPS, type ModelGroup } from "../contract/Models.ts"

/**
 * The models of each group: `{ "V-D": ["wave-2.6", "wave-2.5*"], "rerank": ["rr-*"] }`.
 *
 * **Details.** Names are those of the gateway's lists. An asterisk at the end stands for any ending; a whole name counts
 * before a beginning, a longer beginning before a shorter one. No name may stand in two groups.
 */
export type ModelTable = { readonly [G in ModelGroup]?: ReadonlyArray<string> }

const Names = Schema.Array(Schema.NonEmptyString)

const isGroup = (name: string): name is ModelGroup => MODEL_GROUPS.some((group) => group === name)

/** Where a name stands twice, or a group is none. */
const faultOf = (table: Readonly<Record<string, ReadonlyArray<string>>>): string | undefined => {
  const home = new Map<string, string>()
  for (const [group, names] of Object.entries(table)) {
    if (!isGroup(group)) return `\`${group}\` is no group of models; there are ${MODEL_GROUPS.join(", ")}`
    for (const name of names) {
      const other = home.get(name)
      if (other !== undefined) {
        return other === group
          ? `\`${name}\` stands twice in ${group}`
          : `\`${name}\` stands in ${other} and in ${group}; a model is of one group`
      }
      home.set(name, group)
    }
  }
  return undefined
}

/** A table as it is written in configuration. */
export const ModelTable = Schema.Record(Schema.String, Names).check(
  Schema.makeFilter((table) => faultOf(table) ?? true)
)

const decodeTable = Schema.decodeUnknownEffect(Schema.fromJsonString(ModelTable))

interface Catalogue {
  /** The group of a model; none where the table does not speak of it. */
  readonly groupOf: (model: string) => Option.Option<ModelGroup>
  /** As it was given. */
  readonly table: ModelTable
}

const catalogueOf = (table: ModelTable): Catalogue => {
  const entries = MODEL_GROUPS.flatMap((group) => (table[group] ?? []).map((name) => [name, group] as const))
  const whole = new Map(entries.filter(([name]) => !name.endsWith("*")))
  const beginnings = entries
    .filter(([name]) => name.endsWith("*"))
    .map(([name, group]) => [name.slice(0, -1), group] as const)
    .toSorted(([a], [b]) => b.length - a.length)
  return {
    table,
    groupOf: (model) =>
      Option.fromUndefinedOr(whole.get(model) ?? beginnings.find(([start]) => model.startsWith(start))?.[1])
  }
}

const VARIABLE = "SLUICE_MODEL_GROUPS"

const refuse = (why: string) =>
  new GatewayError({
    operation: "configure",
    reason: new InvalidRequest({ message: `${VARIABLE}: ${why}`, param: VARIABLE })
  })

/**
 * The group of each model, as the user says.
 *
 * **When to use.** To choose the typed call of a model that is not known before the program runs; to show what a model
 * of a list is for.
 *
 * **Details.** Provided to a client's layer, or to single calls, it has image and video calls without a `group` checked as
 * calls of their model's group.
 *
 * ```ts
 * const { groupOf } = yield* ModelCatalogue
 * const { availableModels } = yield* Account
 * const videos = (yield* availableModels).filter(({ id }) => Option.contains(groupOf(id), "V-D"))
 * ```
 */
export class ModelCatalogue extends Context.Service<ModelCatalogue, Catalogue>()(
  "@sluice/core/ModelCatalogue"
) {
  /** A catalogue of a table. It throws where a name stands in two groups. */
  static readonly make = (table: ModelTable): Catalogue => {
    const fault = faultOf(table)
    if (fault !== undefined) throw new RangeError(`ModelCatalogue: ${fault}`)
    return catalogueOf(table)
  }

  static readonly layer = (table: ModelTable): Layer.Layer<ModelCatalogue> =>
    Layer.sync(ModelCatalogue, () => ModelCatalogue.make(table))

  /**
   * The table in `SLUICE_MODEL_GROUPS`: JSON, or the path of a file that holds it. Without either it is empty.
   *
   * **Details.** A file that cannot be read, what is no JSON, an unknown group or a name in two groups fail with
   * `GatewayError` (`configure`), which says where.
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
            refuse(`neither JSON (it would begin with {) nor a file that can be read: ${set.slice(0, 80)}`)
          )
      const table = yield* Effect.mapError(decodeTable(text), (error) =>
        refuse(`${error.message.replace(/\s+/g, " ")}. It is to be a table such as {"rerank": ["a model"]}.`)
      )
      return catalogueOf(table)
    })
  )
}
