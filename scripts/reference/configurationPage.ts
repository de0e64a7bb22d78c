/** `docs/reference/configuration.md`: every environment variable. */
import { DIALECTS } from "@sluice/providers"
import { ConfigProvider, Effect } from "effect"
import { ServerConfig } from "../../apps/demo-server/src/config/ServerConfig.ts"
import { markdownTable } from "./markdownTable.ts"
import { SECTIONS } from "./variables.ts"

/** The variables that the server's configuration asks for. */
export const variablesOfServer = (): ReadonlySet<string> => {
  const names = new Set<string>()
  const provider = ConfigProvider.make(([name]) => {
    // All variables with this beginning are searched for misspelt ones.
    if (name !== "SLUICE") names.add(String(name))
    return Effect.succeed(undefined)
  })
  Effect.runSync(Effect.provideService(ServerConfig.make, ConfigProvider.ConfigProvider, provider))
  return names
}

const code = (text: string) => (text === "–" ? text : `\`${text}\``)

const keys = DIALECTS.flatMap(({ id, keyVariable }) =>
  keyVariable === undefined ? [] : [`\`${keyVariable}\` (${id})`]
)

export const configurationPage = (): string =>
  [
    "# Configuration",
    "Every environment variable that Sluice reads. A program that uses the library reads only what its layers name. A blank variable counts as unset. An invalid one stops the start with a message that names it.",
    ...[...SECTIONS].flatMap(([title, variables]) => [
      `## ${title}`,
      ...markdownTable(
        ["variable", "type", "default", "meaning"],
        variables.map((one) => [code(one.name), one.type, code(one.default), one.meaning])
      )
    ]),
    "## Keys of vendors",
    `The key of each [connected vendor](../start/connect.md#vendors) is in its own variable: ${keys.join(", ")}.`,
    "## Secrets in files",
    `A file may hold the value of a secret, as containers mount it. These variables name the files: ${[
      ...variablesOfServer()
    ]
      .filter((name) => name.endsWith("_FILE"))
      .map(code)
      .join(", ")}. Setting a variable and its file stops the start.`
  ].join("\n\n")
