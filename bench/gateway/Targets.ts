/** The processes of the gateway bench: the upstream, a bare proxy, Sluice in one configuration, and Portkey. */
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { say } from "../Bench.ts"
import { freePort } from "../server/FreePort.ts"
import type { Request } from "../server/Load.ts"

export interface Target {
  readonly name: "direct" | "undici proxy" | "sluice" | "portkey"
  readonly pid: number
  readonly request: Request
}

const LIMIT_MILLISECONDS = 60_000
const root = join(import.meta.dirname, "../..")
const script = (name: string) => join(import.meta.dirname, name)
const portkeyMain = join(root, "bench/peers/node_modules/@portkey-ai/gateway/build/start-server.js")

interface Started {
  readonly child: ChildProcess
  readonly pid: number
  /** What the first group of the pattern matched. */
  readonly found: string
}

/** Starts a program of Node and waits until its output matches. */
const start = async (
  words: ReadonlyArray<string>,
  env: Record<string, string>,
  expected: RegExp,
  {
    program = process.execPath,
    errors = "inherit"
  }: { readonly program?: string; readonly errors?: "inherit" | "ignore" } = {}
): Promise<Started> => {
  const child = spawn(program, [...words], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", errors]
  })
  let output = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text))
  const end = performance.now() + LIMIT_MILLISECONDS
  while (performance.now() < end) {
    const found = expected.exec(output)
    if (found !== null && child.pid !== undefined) return { child, pid: child.pid, found: found[1] ?? "" }
    if (child.exitCode !== null) break
    await sleep(10)
  }
  throw new Error(`${words.at(-1)} did not start: ${output}`)
}

/** Ends the processes, each after what it was asked. */
export const stop = async (processes: Iterable<Started>): Promise<void> => {
  for (const { child } of processes) {
    if (child.exitCode !== null) continue
    const ended = new Promise((done) => child.once("exit", done))
    child.kill("SIGTERM")
    await ended
  }
}

const MODEL = "bench-chat"
const path = "/v1/chat/completions"
const headers = { "content-type": "application/json" }

/** The body of every request. */
const bodyOf = (stream: boolean) =>
  JSON.stringify({
    model: MODEL,
    messages: [
      { role: "user", content: "When does the last ferry to the island leave, and from which quay?" }
    ],
    max_tokens: 64,
    ...(stream && { stream })
  })

/** The processes that all configurations share. */
export interface Shared {
  readonly upstream: string
  readonly collector: string
  readonly processes: ReadonlyArray<Started>
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
      const body = bodyOf(stream)
      const its = { "x-portkey-provider": "openai", "x-portkey-custom-host": `${upstream}/v1` }
      return [
        { name: "direct", pid: behind.pid, request: { url: upstream, path, body, headers } },
        {
          name: "undici proxy",
          pid: proxy.pid,
          request: { url: `http://127.0.0.1:${proxy.found}`, path, body, headers }
        },
        ...(portkey === undefined
          ? []
          : [
              {
                name: "portkey" as const,
                pid: portkey.pid,
                request: {
                  url: `http://127.0.0.1:${port}`,
                  path,
                  body,
                  headers: { ...headers, ...its, authorization: "Bearer k" }
                }
              }
            ])
      ]
    }
  }
}

/** Sluice with keys, quotas and limits on, and its data in `folder`. */
export const startSluice = async (
  upstream: string,
  folder: string,
  configuration: {
    readonly env: Record<string, string>
    readonly headers: Record<string, string>
    readonly stream: boolean
  }
): Promise<{ readonly target: Target; readonly process: Started }> => {
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
  return {
    process: started,
    target: {
      name: "sluice",
      pid: started.pid,
      request: {
        url: `http://127.0.0.1:${port}`,
        path,
        body: bodyOf(configuration.stream),
        headers: { ...headers, ...configuration.headers, authorization: `Bearer ${started.found}` }
      }
    }
  }
}
