/**
 * `npm run -s torture -- attack [--rest MINUTES] [--only NAME|NAME]`: hostile calls one after the other against a server as
 * `sluice serve` starts it. Prints for each how long the server was silent, how long another user's question took, and its
 * memory; at the end its memory after a rest (2 minutes by default). Needs a quiet machine and Linux.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { Worker } from "node:worker_threads"
import { type Call, rows } from "./attackRows.ts"
import type { Probed, ProbeInput } from "./probe.ts"

const QUIET_SECONDS = 15
const PAUSE_SECONDS = 3
/** The aims: milliseconds of `/healthz`, and how many times its quiet time another user's question may take. */
const AIMS = { p99: 100, longest: 250, question: 3, memory: 1.5 }

const root = join(import.meta.dirname, "../..")

const start = async (data: string) => {
  const child = spawn(process.execPath, [join(root, "apps/demo-server/bin/sluice.js"), "serve"], {
    env: { ...process.env, PORT: "0", SLUICE_DATA: data },
    stdio: ["ignore", "pipe", "inherit"]
  })
  let printed = ""
  for await (const chunk of child.stdout) {
    printed += String(chunk)
    if (printed.includes("The API key is for")) break
  }
  child.stdout.resume()
  const url = /http:\/\/[^\s#]+/.exec(printed)![0]
  const token = /sat-\w{48}/.exec(printed)![0]
  return { child, url, token }
}

/** The process of the server: the launcher's child. */
const serverOf = async ({ pid }: ChildProcess): Promise<number> =>
  Number((await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(" ")[0])

const memoryOf = async (pid: number): Promise<number> =>
  Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

/** A call as one user. Returns the status, after the response was read. */
const callAs =
  (url: string, key: string): Call =>
  async (path, body, method = "POST") => {
    const isForm = body instanceof FormData
    const response = await fetch(new URL(path, url), {
      method,
      headers: { authorization: `Bearer ${key}`, ...(!isForm && { "content-type": "application/json" }) },
      ...(body !== undefined && {
        body: isForm || typeof body === "string" ? body : JSON.stringify(body)
      })
    })
    return { status: response.status, text: await response.text() }
  }

/** A user with an ordinary key. */
const keyOf = async (url: string, token: string, username: string): Promise<string> => {
  const user = await callAs(url, token)("/api/user/", { username, quota: 1_000_000_000 })
  const key = await callAs(url, JSON.parse(user.text).data.access_token)("/api/token/", {
    name: "k",
    expired_time: -1,
    remain_quota: 1_000_000_000,
    subnet: ""
  })
  return JSON.parse(key.text).data.key
}

const quantile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))] ??
  Number.NaN

/** Measures the server from another thread until `stop`. */
const probe = (input: ProbeInput) => {
  const worker = new Worker(new URL("probe.ts", import.meta.url), { workerData: input })
  const take = async (): Promise<Probed> => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage("take")
    const [taken] = await once(worker, "message")
    return taken
  }
  return { take, stop: () => worker.terminate() }
}

const cells = (...values: ReadonlyArray<string | number>): string =>
  values
    .map((value, i) =>
      i === 0 ? String(value).padEnd(46) : (typeof value === "number" ? value.toFixed(0) : value).padStart(9)
    )
    .join(" ")

const isGood = ({ health, questions }: Probed, quiet: number): boolean =>
  quantile(health, 0.99) <= AIMS.p99 &&
  Math.max(...health) <= AIMS.longest &&
  !(quantile(questions, 0.5) > AIMS.question * quiet)

export const attack = async (only: string | undefined, restMinutes: number): Promise<boolean> => {
  const data = await mkdtemp(join(tmpdir(), "sluice-attack-"))
  // The samples take seconds.
  await writeFile(join(data, "samples-read"), "")
  const server = await start(data)
  let probing: ReturnType<typeof probe> | undefined
  try {
    const pid = await serverOf(server.child)
    const anna = await keyOf(server.url, server.token, "anna")
    const mallory = callAs(server.url, await keyOf(server.url, server.token, "mallory"))
    const form = new FormData()
    for (let i = 0; i < 20; i++) {
      const text = `# Gate ${i}\n\nThe toll of gate ${i} is ${i + 3} crowns.\n\nIt opens at ${i % 9} o'clock.\n`
      form.append("files", new Blob([text]), `gate-${i}.md`)
    }
    await callAs(server.url, anna)("/documents", form)
    probing = probe({ url: server.url, key: anna })
    await pause(2_000)
    await probing.take()
    await pause(1_000 * QUIET_SECONDS)
    const before = await probing.take()
    const quiet = quantile(before.questions, 0.5)
    const memoryBefore = await memoryOf(pid)
    console.log(
      `Quiet: /healthz p99 ${quantile(before.health, 0.99).toFixed(0)} ms, a question ${quiet.toFixed(0)} ms, ${memoryBefore.toFixed(0)} MB\n`
    )
    console.log(cells("call", "status", "seconds", "p99", "longest", "question", "× quiet", "longest", "MB"))
    let good = true
    for (const { name, prepare } of rows.filter(
      ({ name }) => only === undefined || only.split("|").some((part) => name.includes(part))
    )) {
      const run = prepare()
      // A garbage collection of what was prepared is not measured either.
      await pause(1_000)
      await probing.take()
      const started = performance.now()
      const status = await run(mallory).catch((cause: unknown) => String(cause))
      await pause(200)
      const seconds = (performance.now() - started) / 1000
      const during = await probing.take()
      const median = quantile(during.questions, 0.5)
      const isRowGood = isGood(during, quiet) && server.child.exitCode === null
      good &&= isRowGood
      console.log(
        cells(
          name,
          status,
          seconds.toFixed(1),
          quantile(during.health, 0.99),
          Math.max(...during.health),
          median,
          (median / quiet).toFixed(1),
          Math.max(...during.questions),
          await memoryOf(pid)
        ) + (isRowGood ? "" : "  <- beyond the aim")
      )
      await pause(1_000 * PAUSE_SECONDS)
    }
    await pause(60_000 * restMinutes)
    const memoryAfter = await memoryOf(pid)
    console.log(
      `\nMemory ${restMinutes} min later: ${memoryAfter.toFixed(0)} MB, ${(memoryAfter / memoryBefore).toFixed(2)} × before`
    )
    return good && memoryAfter <= AIMS.memory * memoryBefore
  } finally {
    await probing?.stop()
    server.child.kill("SIGTERM")
    await once(server.child, "exit")
    await rm(data, { recursive: true, force: true })
  }
}
