/** `docs/reference/cli.md`: every command of `sluice`, from its own help. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Option } from "effect"
import { CliOutput, Command, type HelpDoc } from "effect/cli"
import { sluice } from "../../apps/demo-server/src/cli/Sluice.ts"
import { markdownTable, plain } from "./markdownTable.ts"

/** The help of a command. */
const helpOf = (path: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const shown: Array<HelpDoc.HelpDoc> = []
    const presenter = CliOutput.layerPresenter({
      present: (event) => Effect.sync(() => void (event._tag === "Help" && shown.push(event.helpDoc)))
    })
    yield* Effect.provide(
      Command.runWith(sluice, { version: "" })([...path, "--help"]),
      Layer.merge(NodeServices.layer, presenter)
    )
    return yield* Effect.fromNullishOr(shown[0])
  })

const rows = (title: string, entries: ReadonlyArray<readonly [string, string, string]>) =>
  markdownTable(
    [title, "type", "meaning"],
    entries.map(([name, type, meaning]) => [`\`${name}\``, plain(type), plain(meaning)])
  )

const meaningOf = ({ description, required }: { description: Option.Option<string>; required: boolean }) =>
  `${Option.getOrElse(description, () => "")}${required ? ". Required" : ""}`

const sectionOf = (path: ReadonlyArray<string>, help: HelpDoc.HelpDoc): ReadonlyArray<string> => [
  `${"#".repeat(Math.min(path.length + 1, 4))} sluice ${path.join(" ")}`,
  `${help.description}.`,
  `\`${help.usage.trim()}\``,
  ...rows(
    "argument",
    (help.args ?? []).map((arg) => [arg.variadic ? `${arg.name} …` : arg.name, arg.type, meaningOf(arg)])
  ),
  ...rows(
    "flag",
    help.flags.map((flag) => [[...flag.aliases, `--${flag.name}`].join(", "), flag.type, meaningOf(flag)])
  ),
  ...(help.examples ?? []).map(
    ({ command, description = "" }) => `${description}:\n\n\`\`\`sh not-run: an example\n${command}\n\`\`\``
  )
]

const sectionsOf = (path: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>, unknown, never> =>
  Effect.gen(function* () {
    const help = yield* helpOf(path)
    const names = (help.subcommands ?? []).flatMap(({ commands }) => commands.map(({ name }) => name))
    const below = yield* Effect.forEach(names, (name) => sectionsOf([...path, name]))
    return [...(path.length === 0 ? [] : sectionOf(path, help)), ...below.flat()]
  })

export const commandLinePage: Effect.Effect<string, unknown> = Effect.map(sectionsOf([]), (sections) =>
  [
    "# Command line",
    "`sluice` is the command of `@sluice/demo-server`. In a clone of the repository, `npx @sluice/demo-server` runs it from source.",
    "Without `--data`, commands use the library in `SLUICE_DATA`, or in `.sluice`. It is also the server's: while a server uses the folder, `ingest` and `--docs` are refused, and commands that only read work. With `--json`, standard output holds exactly one JSON object.",
    "The exit code is 1 if a command fails: also if no passage matches the filters of `ask`, if the model's answer could not be read, if a file of `ingest` could not be read, or if a measurement is below `--fail-under`.",
    "Each command also accepts `--help`, `--version`, `--log-level` and `--completions`.",
    ...sections
  ].join("\n\n")
)
