/** What the person at the terminal reads when the server is up. */
import type { Secrets } from "./accounts/Accounts.ts"
import { isLoopback } from "./network/Hosts.ts"

export interface Started {
  readonly host: string
  readonly port: number
  readonly login: string
  readonly data: string
  /** The gateway's address, or the file that names models, when not all are of this process. */
  readonly modelsFrom: string | undefined
  readonly models: { readonly embedding: string; readonly rerank: string; readonly chat: string }
  readonly stray: ReadonlyArray<string>
  readonly fresh: Secrets | undefined
}

/** A name that a browser on this machine can open; `0.0.0.0` and `::` mean every address. */
const reachable = (host: string): string =>
  host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host

/** Where to open the page. The login stands behind `#`: it never reaches a log or another site. */
export const address = ({ host, port, login }: Pick<Started, "host" | "port" | "login">): string =>
  `http://${reachable(host)}:${port}/#login=${login}`

export const banner = (started: Started): string => {
  const { data, models, modelsFrom, stray, fresh, host } = started
  const lines = [
    "",
    "Sluice is up. Open this address; it signs you in once:",
    "",
    `  ${address(started)}`,
    "",
    `Documents   ${data}`,
    modelsFrom === undefined
      ? `Models      embedded, no network: ${Object.values(models).join(", ")}`
      : `Models      ${modelsFrom}: ${Object.values(models).join(", ")}`,
    "Reference   /docs"
  ]
  if (fresh !== undefined) {
    lines.push(
      "",
      "Shown this once; only their hashes are kept:",
      "",
      `  API key               ${fresh.apiKey}`,
      `  System access token   ${fresh.accessToken}`,
      "",
      "The API key opens /v1 and the documents, the system access token /api."
    )
  }
  if (stray.length > 0) {
    lines.push("", `Without SLUICE_GATEWAY_URL these have no effect: ${stray.join(", ")}`)
  }
  if (!isLoopback(host)) {
    lines.push("", `Bound to ${host}: others can reach this server, and what they send is not encrypted.`)
  }
  return [...lines, ""].join("\n")
}
