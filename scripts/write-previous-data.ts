/**
 * Writes `test/demo-server/previous-data.tar.gz`: the data folder of an earlier version, for `upgrade.test.ts`.
 *
 *     node scripts/write-previous-data.ts COMMIT
 *
 * It runs the server of that commit with the packages that are installed now, and uses it: two users with libraries, keys
 * and charges, and a session that does not expire. `credentials.json` in the archive has their secrets.
 */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { extractCommit } from "./previousSource.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "sluice-previous-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
const [source, data] = [join(folder, "source"), join(folder, "data")]
const run = (file: string, ...args: ReadonlyArray<string>) =>
  execFileSync(file, args, { cwd: root, maxBuffer: 2 ** 30 })

const commit = String(run("git", "rev-parse", process.argv[2] ?? "")).trim()
const main = extractCommit(commit, source)
const server = spawn(process.execPath, main, {
  env: { ...process.env, SLUICE_DATA: data, SLUICE_SAMPLES: "false", PORT: "0" }
})
process.on("exit", () => server.kill())
let printed = ""
for await (const part of server.stdout) {
  printed += String(part)
  if (printed.includes("opens /v1")) break
}
const found = (pattern: RegExp) => pattern.exec(printed)?.[0] ?? ""
const url = found(/http:\/\/127\.0\.0\.1:\d+/)
const owner = { key: found(/sk-\w+/), token: found(/sat-\w+/) }

const call = async (secret: string, path: string, body?: FormData | object) => {
  const headers = {
    ...(secret !== "" && { authorization: `Bearer ${secret}` }),
    ...(!(body instanceof FormData) && { "content-type": "application/json" })
  }
  const content = body instanceof FormData ? body : body && JSON.stringify(body)
  const method = body === undefined ? "GET" : "POST"
  const response = await fetch(`${url}${path}`, { method, headers, ...(content && { body: content }) })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response
}
const json = async (secret: string, path: string, body?: object) => (await call(secret, path, body)).json()
const upload = (secret: string, collection: string, files: Readonly<Record<string, Uint8Array | string>>) => {
  const form = new FormData()
  for (const [name, content] of Object.entries(files))
    form.append("files", new Blob([content as Uint8Array<ArrayBuffer>]), name)
  return call(secret, `/documents?collection=${collection}`, form)
}

const sample = (name: string) => readFileSync(join(source, "apps/demo-server/samples", name))
await upload(owner.key, "default", {
  "ferry.md": "# Ferry\n\nThe last ferry to the island leaves at nine in the evening.\n",
  "lock.md": "# Lock\n\nThe lock keeper opens the north gate at six in the morning.\n",
  "visiting.html": sample("visiting.html")
})
await upload(owner.key, "report", { "inspection-report.pdf": sample("inspection-report.pdf") })
const made = await json(owner.token, "/api/user", { username: "ann", quota: 500_000 })
const ann = { id: made.data.id, token: made.data.access_token, key: "" }
const laptop = { name: "laptop", remain_quota: 100_000, expired_time: -1 }
ann.key = (await json(ann.token, "/api/token/", laptop)).data.key
await upload(ann.key, "default", { "boats.md": "# Boats\n\nBoats leave two hours before high water.\n" })
await json(ann.key, "/v1/embeddings", { model: "sluice-lexical-1024", input: ["boats", "water"] })
const signIn = await call("", "/session", { login: found(/(?<=#login=)[\w-]+/) })
const balances = {
  owner: (await json(owner.token, "/api/user/self")).data.quota,
  ann: (await json(ann.token, "/api/user/self")).data.quota
}
server.kill("SIGTERM")
await once(server, "exit")
const accounts = new DatabaseSync(join(data, "accounts.db"))
accounts.exec("UPDATE sessions SET expires_at = 253402300799000")
accounts.close()
const session = signIn.headers.get("set-cookie")?.split(";")[0]
writeFileSync(join(data, "credentials.json"), JSON.stringify({ commit, owner, ann, session, balances }))
const archive = join(root, "test/demo-server/previous-data.tar.gz")
run("sh", "-c", `tar c -C "${data}" . | gzip -9 > "${archive}"`)
