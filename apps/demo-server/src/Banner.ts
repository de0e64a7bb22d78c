/** The text that the server prints at its start. */
import type { Secrets } from "./accounts/SignIn.ts"
import { isLoopback } from "./network/Origin.ts"

export interface Started {
  readonly host: string
  readonly port: number
  readonly login: string
  readonly data: string
  /** The gateway's address or the file that names models. Absent: only embedded models. */
  readonly modelsFrom: string | undefined
  readonly models: { readonly embedding: string; readonly rerank: string; readonly chat: string }
  readonly unusedVariables: ReadonlyArray<string>
  readonly misspeltVariables: ReadonlyArray<{ readonly name: string; readonly nearest: string }>
  /** At the first start. */
  readonly secrets: Secrets | undefined
}

/** An address that a browser on this machine can open. `0.0.0.0` and `::` mean every address. */
const reachable = (host: string): string =>
  host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host

/** The page's URL. The login is in the fragment, so that it never reaches a log or another site. */
export const address = ({ host, port, login }: Pick<Started, "host" | "port" | "login">): string =>
  `http://${reachable(host)}:${port}/#login=${login}`

export const banner = (started: Started): string => {
  const { data, models, modelsFrom, misspeltVariables, unusedVariables, secrets, host } = started
  const lines = [
    "",
    "Sluice is up. Open this address to sign in. It works once:",
    "",
    `  ${address(started)}`,
    "",
    `Documents   ${data}`,
    modelsFrom === undefined
      ? `Models      embedded, no network: ${Object.values(models).join(", ")}`
      : `Models      ${modelsFrom}: ${Object.values(models).join(", ")}`,
    "Reference   /docs"
  ]
  const first = Object.entries({
    "API key": secrets?.apiKey,
    "System access token": secrets?.accessToken
  }).flatMap(([name, value]) => (value === undefined ? [] : [`  ${name.padEnd(22)}${value}`]))
  if (first.length > 0) {
    lines.push(
      "",
      "You won't see these again; only their hashes are stored:",
      "",
      ...first,
      "",
      "The API key is for /v1 and the documents, the system access token for /api."
    )
  }
  if (unusedVariables.length > 0) {
    lines.push("", `No effect without SLUICE_GATEWAY_URL: ${unusedVariables.join(", ")}`)
  }
  if (misspeltVariables.length > 0) {
    const names = misspeltVariables.map(({ name, nearest }) => `${name} (do you mean ${nearest}?)`)
    lines.push("", `Not a variable of Sluice: ${names.join(", ")}`)
  }
  if (!isLoopback(host)) {
    lines.push("", `Bound to ${host}: other machines can reach this server, and traffic is not encrypted.`)
  }
  return [...lines, ""].join("\n")
}
