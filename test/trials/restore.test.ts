/** What `sluice backup` puts in a backup, and what `sluice restore` refuses. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { mkdir, readdir, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type CommandResult, sluiceHere } from "../cli/Launcher.ts"
import { failedStart, startServer, temporaryFolder } from "../demo-server/TestServer.ts"

const sluice = (...args: ReadonlyArray<string>) => Effect.promise(() => sluiceHere(args))
const list = (folder: string) => Effect.promise(() => readdir(folder))
const file = <A>(run: () => Promise<A>) => Effect.promise(run)

/** A data folder that no server uses, with the key of a connection, and a place for backups. */
const stoppedServer = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const data = join(folder, "data")
  yield* file(async () => {
    await mkdir(join(data, "connections"), { recursive: true })
    await mkdir(join(data, "page-images"))
    await mkdir(join(data, "lost+found", "#1"), { recursive: true })
    await writeFile(join(data, "lost+found", "#1", "part"), "")
    // A link to another disk.
    await mkdir(join(folder, "disk", "files"), { recursive: true })
    await symlink(join(folder, "disk"), join(data, "media"))
  })
  execFileSync("tar", [
    "xzf",
    join(import.meta.dirname, "..", "demo-server", "previous-data.tar.gz"),
    "-C",
    data
  ])
  yield* file(async () => {
    await writeFile(join(data, "connections", "vendor.key"), "a secret")
    await writeFile(join(data, "connections", "sluice.config.json"), '{ "embedded": true }')
    await writeFile(join(data, "page-images", "page.png"), "cached")
    await writeFile(join(folder, "disk", "files", "film.mp4"), "a film")
    await writeFile(join(folder, "disk", "files", "next.mp4.new"), "half a film")
  })
  return { folder, data, backup: join(folder, "backup"), target: join(folder, "restored") }
})

/** Everything below a folder. */
const treeOf = (folder: string) =>
  file(async () => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const files = entries
      .filter((entry) => entry.isFile())
      .map(({ name, parentPath }) => join(parentPath, name))
    return files.map((path) => path.slice(folder.length + 1)).toSorted()
  })

const assertFails = ({ code, stderr, stdout }: CommandResult, words: string) => {
  assert.deepStrictEqual({ code, stdout }, { code: 1, stdout: "" })
  assert.include(stderr, words)
}

describe("sluice backup", () => {
  it.live("leaves out keys and the cache, and includes keys with --secrets, readable only by the owner", () =>
    Effect.gen(function* () {
      const { backup, data, folder } = yield* stoppedServer
      const key = join("connections", "vendor.key")
      assert.include((yield* sluice("backup", backup, "--data", data)).stdout, "--secrets")
      const paths = yield* treeOf(backup)
      assert.notInclude(paths, key)
      assert.isFalse(paths.some((path) => /^(?:page-images|lost)/.test(path) || path.endsWith("-wal")))
      assert.includeMembers(paths, ["accounts.db", "backup.json", "connections/sluice.config.json"])
      assert.deepStrictEqual(
        paths.filter((path) => path.startsWith("media")),
        ["media/files/film.mp4"]
      )
      const doctor = yield* sluice("doctor", "--data", data, "--json")
      assert.strictEqual(JSON.parse(doctor.stdout).backup.target, backup)
      const secret = join(folder, "secret")
      yield* sluice("backup", secret, "--data", data, "--secrets")
      assert.strictEqual(yield* file(() => readFile(join(secret, key), "utf8")), "a secret")
      const modes = yield* Effect.forEach(yield* treeOf(secret), (path) =>
        file(async () => (await stat(join(secret, path))).mode & 0o777)
      )
      assert.deepStrictEqual(new Set(modes), new Set([0o600]))
      assert.strictEqual((yield* file(() => stat(secret))).mode & 0o777, 0o700)
    }).pipe(Effect.scoped)
  )

  it.live("writes one file that restores, if the name ends in .tar.gz", () =>
    Effect.gen(function* () {
      const { data, folder, target } = yield* stoppedServer
      const archive = join(folder, "backup.tar.gz")
      assert.strictEqual((yield* sluice("backup", archive, "--data", data)).code, 0)
      assert.sameMembers([...(yield* list(folder))], ["data", "disk", "backup.tar.gz"])
      assert.strictEqual((yield* file(() => stat(archive))).mode & 0o777, 0o600)
      assert.include((yield* sluice("restore", archive, "--verify", "--data", target)).stdout, "is whole")
      assert.strictEqual((yield* sluice("restore", archive, "--data", target)).code, 0)
      assert.include(yield* treeOf(target), "accounts.db")
    }).pipe(Effect.scoped)
  )

  it.live(
    "refuses a place that exists or is in the data folder, and a data folder that is empty or does not exist",
    () =>
      Effect.gen(function* () {
        const { backup, data, folder } = yield* stoppedServer
        assertFails(yield* sluice("backup", folder, "--data", data), "exists. Choose another name")
        assertFails(yield* sluice("backup", join(data, "backup"), "--data", data), "is in the data folder")
        assertFails(
          yield* sluice("backup", backup, "--data", join(folder, "none")),
          "There is no data folder"
        )
        yield* file(() => mkdir(join(folder, "empty")))
        assertFails(yield* sluice("backup", backup, "--data", join(folder, "empty")), "is empty")
        assert.notInclude(yield* list(folder), "backup")
      }).pipe(Effect.scoped)
  )
})

describe("sluice restore", () => {
  it.live(
    "refuses a backup with a damaged, truncated or missing file, or of a newer version, and writes nothing",
    () =>
      Effect.gen(function* () {
        const { backup, data, folder, target } = yield* stoppedServer
        yield* sluice("backup", backup, "--data", data)
        const table = (yield* treeOf(backup)).find((path) => path.endsWith(".lance")) ?? ""
        const [damaged, manifest] = [join(backup, table), join(backup, "backup.json")]
        const bytes = yield* file(() => readFile(damaged))
        const text = yield* file(() => readFile(manifest, "utf8"))
        const flipped = Buffer.from(bytes)
        flipped[100]! ^= 1
        const outside = text.replace(table, "../data/accounts.db")
        const newer = text.replace(/"accounts": \d+/, '"accounts": 999')
        const damages: ReadonlyArray<readonly [damage: () => Promise<void>, words: string]> = [
          [() => writeFile(damaged, flipped), `${table} has another SHA-256`],
          [() => truncate(damaged, 10), `${table} has 10 bytes in place of ${bytes.length}`],
          [() => rm(damaged), `${table} is missing`],
          [() => writeFile(manifest, outside), "is outside the backup"],
          [() => writeFile(manifest, text.slice(9)), "backup.json is not valid"],
          [() => writeFile(manifest, newer), "is newer than this one"],
          [() => rm(manifest), "is no backup"]
        ]
        for (const [damage, words] of damages) {
          yield* file(damage)
          for (const more of [[], ["--verify"]])
            assertFails(yield* sluice("restore", backup, "--data", target, ...more), words)
          yield* file(async () => {
            await writeFile(damaged, bytes)
            await writeFile(manifest, text)
          })
        }
        assert.sameMembers([...(yield* list(folder))], ["data", "disk", "backup"])
        assert.strictEqual((yield* sluice("restore", backup, "--data", target)).code, 0)
      }).pipe(Effect.scoped)
  )

  it.live("refuses a folder in use, and one with files unless --replace is given, which deletes them", () =>
    Effect.gen(function* () {
      const { backup, data, target } = yield* stoppedServer
      yield* sluice("backup", backup, "--data", data)
      yield* file(() => mkdir(join(target, "media", "files"), { recursive: true }))
      yield* file(() => mkdir(join(target, "lost+found")))
      yield* file(() => writeFile(join(target, "media", "files", "old.png"), "old"))
      assertFails(yield* sluice("restore", backup, "--data", target), "add --replace")
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* startServer({ data: target })
          assertFails(yield* sluice("restore", backup, "--data", target, "--replace"), "Stop it before")
        })
      )
      assert.include(yield* treeOf(target), "media/files/old.png")
      assert.strictEqual((yield* sluice("restore", backup, "--data", target, "--replace")).code, 0)
      const paths = (yield* treeOf(backup)).filter((path) => path !== "backup.json")
      assert.deepStrictEqual(yield* treeOf(target), paths)
      assert.include(yield* list(target), "lost+found")
    }).pipe(Effect.scoped)
  )

  it.live(
    "that was killed while files were moved keeps the server from starting, until it is run again",
    () =>
      Effect.gen(function* () {
        const { backup, data, target } = yield* stoppedServer
        yield* sluice("backup", backup, "--data", data)
        yield* file(async () => {
          await mkdir(join(target, ".restoring", "old", "library"), { recursive: true })
          await mkdir(join(target, "library"))
          await writeFile(join(target, "library", "half"), "")
          await writeFile(join(target, ".restoring", "old", "library", "half"), "")
        })
        const { code, printed } = yield* failedStart(target)
        assert.strictEqual(code, 1)
        assert.include(printed, "restore BACKUP --replace")
        assert.strictEqual((yield* sluice("restore", backup, "--data", target, "--replace")).code, 0)
        assert.notInclude(yield* list(target), ".restoring")
        yield* Effect.scoped(startServer({ data: target }))
      }).pipe(Effect.scoped)
  )
})

/** Runs `sluice` where files have at most 16 KB, like on a full disk. */
const onFullDisk = (...args: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const launcher = join(import.meta.dirname, "../../apps/demo-server/src/cli/main.ts")
    const node = [process.execPath, "--conditions=@sluice/source", launcher, ...args]
    const child = spawn("sh", ["-c", `trap '' XFSZ; ulimit -f 32; exec "$@"`, "sh", ...node])
    let stderr = ""
    child.stderr.on("data", (part) => (stderr += String(part)))
    const code = await new Promise<number | null>((ended) => child.once("close", ended))
    return { code, stdout: "", stderr }
  })

// Skipped: Windows has no limit on the size of files.
describe.skipIf(process.platform === "win32")("on a full disk (needs ulimit)", () => {
  it.live("a backup and a restore fail and leave nothing half-made", () =>
    Effect.gen(function* () {
      const { backup, data, folder, target } = yield* stoppedServer
      assertFails(yield* onFullDisk("backup", backup, "--data", data), "too large for this disk")
      assert.deepStrictEqual(yield* list(folder), ["data", "disk"])
      yield* sluice("backup", backup, "--data", data)
      assertFails(yield* onFullDisk("restore", backup, "--data", target), "too large for this disk")
      assert.sameMembers([...(yield* list(folder))], ["data", "disk", "backup"])
      // Looking whether a server runs leaves an empty log of SQLite.
      const before = (yield* treeOf(data)).filter((path) => !/-(?:wal|shm)$/.test(path))
      assertFails(
        yield* onFullDisk("restore", backup, "--data", data, "--replace"),
        "too large for this disk"
      )
      assert.includeMembers(yield* treeOf(data), before)
      assert.notInclude(yield* list(data), ".restoring")
    }).pipe(Effect.scoped)
  )
})
