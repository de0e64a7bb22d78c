/** What the bench of the gateway asks: the upstream itself, a bare proxy, this server, and another's gateway. */
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { say } from "./Bench.ts"
import { freePort } from "./FreePort.ts"
import type { Request } from "./Load.ts"

export interface Target {
  readonly name: "direct" | "undici proxy" | "sluice" | "portkey"
  readonly pid: number
  readonly request: Request
}

const LIMIT_MILLISECONDS = 60_000
const root = join(import.meta.dirname, "..")
const portkeyMain = join(import.meta.dirname, "peers/node_modules/@portkey-ai/gateway/build/start-server.js")

const started: Array<ChildProcess> = []

/** Starts a program of Node and waits for what it says. */
const start = async (
  words: ReadonlyArray<string>,
  env: Record<string, string>,
  expected: RegExp
): Promise<{ readonly pid: number; readonly found: string }> => {
  const child = spawn(process.execPath, [...words], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"]
  })
  started.push(child)
  let output = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text))
  const end = performance.now() + LIMIT_MILLISECONDS
  while (performance.now() < end) {
    const found = expected.exec(output)
    if (found !== null && child.pid !== undefined) return { pid: child.pid, found: found[1] ?? "" }
    if (child.exitCode !== null) break
    await sleep(10)
  }
  throw new Error(`${words.at(-1)} did not start: ${output}`)
}

/** Ends all that was started. */
export const stopTargets = async (): Promise<void> => {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null) continue
    const ended = new Promise((done) => child.once("exit", done))
    child.kill("SIGTERM")
    await ended
  }
}

const MODEL = "bench-chat"
const body = JSON.stringify({
  model: MODEL,
  messages: [{ role: "user", content: "When does the last ferry to the island leave, and from which quay?" }],
  max_tokens: 64
})
const headers = { "content-type": "application/json" }
const path = "/v1/chat/completions"

const sluice = async (upstream: string, folder: string): Promise<Target> => {
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
  // As after any start but the first, which reads the sample documents meanwhile.
  await mkdir(join(folder, "data"), { recursive: true })
  await writeFile(join(folder, "data", "samples-read"), "")
  const { found, pid } = await start(
    ["--conditions=@sluice/source", "apps/demo-server/src/main.ts"],
    {
      PORT: String(port),
      SLUICE_DATA: join(folder, "data"),
      SLUICE_CONFIG: join(folder, "sluice.config.json"),
      BENCH_UPSTREAM_KEY: "sk-upstream",
      // Counted for each call, and never reached.
      SLUICE_REQUESTS_PER_MINUTE: "900000000",
      SLUICE_TOKENS_PER_MINUTE: "900000000000"
    },
    /API key\s+(sk-\S+)/
  )
  const url = `http://127.0.0.1:${port}`
  return {
    name: "sluice",
    pid,
    request: { url, path, body, headers: { ...headers, authorization: `Bearer ${found}` } }
  }
}

const portkey = async (upstream: string): Promise<Target | undefined> => {
  if (!existsSync(portkeyMain)) {
    say("@portkey-ai/gateway is missing, its figures are left out: see bench/peers/README.md")
    return undefined
  }
  const port = await freePort()
  const { pid } = await start(
    [portkeyMain, "--headless", `--port=${port}`],
    { TRUSTED_CUSTOM_HOSTS: "127.0.0.1" },
    /(Ready)/
  )
  const its = { "x-portkey-provider": "openai", "x-portkey-custom-host": `${upstream}/v1` }
  const request = { url: `http://127.0.0.1:${port}`, path, body }
  return {
    name: "portkey",
    pid,
    request: { ...request, headers: { ...headers, ...its, authorization: "Bearer k" } }
  }
}

/** Starts all of them. The folder takes this server's data. */
export const startTargets = async (folder: string): Promise<ReadonlyArray<Target>> => {
  const script = (name: string) => join(import.meta.dirname, name)
  const behind = await start([script("gatewayUpstream.ts")], {}, /port (\d+)/)
  const upstream = `http://127.0.0.1:${behind.found}`
  const proxy = await start([script("gatewayProxy.ts"), upstream], {}, /port (\d+)/)
  const theirs = await portkey(upstream)
  return [
    { name: "direct", pid: behind.pid, request: { url: upstream, path, body, headers } },
    {
      name: "undici proxy",
      pid: proxy.pid,
      request: { url: `http://127.0.0.1:${proxy.found}`, path, body, headers }
    },
    await sluice(upstream, folder),
    ...(theirs === undefined ? [] : [theirs])
  ]
}
