/** `--a` and `--b`: two ways to retrieve that are compared, as JSON in the command or in a file. */
import { RagError, RetrieveOptions } from "@sluice/rag"
import { type Configuration } from "@sluice/rag/evaluation"
import { Effect, FileSystem, Option, Schema } from "effect"
import { Flag } from "effect/cli"

const Options = Schema.fromJsonString(RetrieveOptions.schema)

const flag = (name: string, what: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(
      `${what}: JSON such as {"recall":50} or {"fusion":{"_tag":"Dense"}}, or a file of it`
    ),
    Flag.optional
  )

export const flags = {
  a: flag("a", "A configuration to measure too, against the default"),
  b: flag("b", "With --a: what it is compared with instead of the default")
}

/** Reads them; fails with `Malformed` or `NotFound`. Fields that are not known are refused: a typing error would be measured as the default. */
export const read = Effect.fn("cli.configurations")(function* (said: {
  readonly a: Option.Option<string>
  readonly b: Option.Option<string>
}) {
  const configurations: Array<Configuration> = []
  for (const name of ["a", "b"] as const) {
    const text = Option.getOrUndefined(said[name])
    if (text !== undefined) configurations.push({ name, options: yield* optionsOf(name, text) })
  }
  return configurations
})

const optionsOf = Effect.fn("cli.configuration")(function* (name: string, said: string) {
  const fs = yield* FileSystem.FileSystem
  const text = said.trimStart().startsWith("{")
    ? said
    : yield* fs.readFileString(said).pipe(
        Effect.mapError(
          (cause) =>
            new RagError({
              stage: "evaluate",
              reason: "NotFound",
              message: `--${name} ${said} cannot be read: write JSON that begins with {, or name a file that holds it.`,
              cause
            })
        )
      )
  return yield* Schema.decodeUnknownEffect(Options)(text, { onExcessProperty: "error" }).pipe(
    Effect.mapError(
      (cause) =>
        new RagError({
          stage: "evaluate",
          reason: "Malformed",
          message: `--${name} is no configuration of retrieval: ${cause.message}`,
          cause
        })
    )
  )
})
