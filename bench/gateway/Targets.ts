/** The processes of the gateway bench: the upstream, a bare proxy, Sluice in one configuration, and Portkey. */
import { existsSync } from "node:fs"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { say } from "../Bench.ts"
import { freePort } from "../server/FreePort.ts"
import type { Request } from "../server/Load.ts"
import { type Program, start } from "../server/Program.ts"
import type { Configuration } from "./Configurations.ts"

export interface Target {
  readonly name: "direct" | "undici proxy" | "sluice" | "portkey"
  readonly pid: number
  readonly request: Request
}

const script = (name: string) => join(import.meta.dirname, name)
const portkeyMain = join(
  import.meta.dirname,
  "../peers/node_modules/@portkey-ai/gateway/build/start-server.js"
)

const MODEL = "bench-chat"
const QUESTION = "When does the last ferry to the island leave, and from which quay?"

/** The request that all targets get. */
const requestTo = (url: string, stream: boolean, headers: Record<string, string> = {}): Request => ({
  url,
  path: "/v1/chat/completions",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify({
    model: MODEL,
    messages: [{ role: "user", content: QUESTION }],
    max_tokens: 64,
    ...(stream && { stream })
  })
})

/** The processes that all configurations share. */
export interface Shared {
  readonly upstream: string
  readonly collector: string
  readonly processes: ReadonlyArray<Program>
  /** The targets beside Sluice, for bodies that stream or do not. */
  readonly beside: (stream: boolean) => ReadonlyArray<Target>
}

export const startShared = async (): Promise<Shared> => {
  const behind = await start([script("Upstream.ts")], {}, /port (\d+)/)
  // Any server that reads bodies and answers 200 takes traces.
  const collecting = await start([script("Upstream.ts")], {}, /port (\d+)/)
  const upstream = `http://127.0.0.1:${behind.found}`
  const proxy = await start([script("Proxy.ts"), upstream], {}, /port (\d+)/)
  const processes = [behind, collecting, proxy]
  const port = await freePort()
  const portkey = existsSync(portkeyMain)
    ? await start(
        [portkeyMain, "--headless", `--port=${port}`],
        { TRUSTED_CUSTOM_HOSTS: "127.0.0.1" },
        /(Ready)/,
        { program: process.env["BENCH_PORTKEY_NODE"] ?? process.execPath, errors: "ignore" }
      )
    : undefined
  if (portkey === undefined) {
    say("@portkey-ai/gateway is missing, its figures are left out: see bench/peers/README.md")
  } else processes.push(portkey)
  return {
    upstream,
    collector: `http://127.0.0.1:${collecting.found}`,
    processes,
    beside: (stream) => {
      const targets: Array<Target> = [
        { name: "direct", pid: behind.pid, request: requestTo(upstream, stream) },
        {
          name: "undici proxy",
          pid: proxy.pid,
          request: requestTo(`http://127.0.0.1:${proxy.found}`, stream)
        }
      ]
      if (portkey === undefined) return targets
      const headers = {
        "x-portkey-provider": "openai",
        "x-portkey-custom-host": `${upstream}/v1`,
        authorization: "Bearer k"
      }
      const request = requestTo(`http://127.0.0.1:${port}`, stream, headers)
      return [...targets, { name: "portkey", pid: portkey.pid, request }]
    }
  }
}

/** Sluice with keys, quotas and limits on, and its data in `folder`. */
export const startSluice = async (
  upstream: string,
  folder: string,
  configuration: Configuration
): Promise<{ readonly target: Target; readonly process: Program }> => {
  const port = await freePort()
  const config = {
    upstreams: [
      {
        id: "loopback",
        url: upstream,
        apiKey: { env: "BENCH_UPSTREAM_KEY" },
        models: [{ id: MODEL, operation: "chat" }]
      }
    ]
  }
  await writeFile(join(folder, "sluice.config.json"), JSON.stringify(config))
  // As on every start but the first, which reads the sample documents.
  await mkdir(join(folder, "data"), { recursive: true })
  await writeFile(join(folder, "data", "samples-read"), "")
  const flags = (process.env["BENCH_NODE_FLAGS"] ?? "").split(" ").filter((flag) => flag !== "")
  const started = await start(
    [...flags, "--conditions=@sluice/source", "apps/demo-server/src/main.ts"],
    {
      PORT: String(port),
      SLUICE_DATA: join(folder, "data"),
      SLUICE_CONFIG: join(folder, "sluice.config.json"),
      BENCH_UPSTREAM_KEY: "sk-upstream",
      // Counted on each call, and never reached.
      SLUICE_REQUESTS_PER_MINUTE: "900000000",
      SLUICE_TOKENS_PER_MINUTE: "900000000000",
      ...configuration.env
    },
    /API key\s+(sk-\S+)/
  )
  const { headers, stream } = configuration
  const authorized = { ...headers, authorization: `Bearer ${started.found}` }
  const request = requestTo(`http://127.0.0.1:${port}`, stream, authorized)
  return { process: started, target: { name: "sluice", pid: started.pid, request } }
}
