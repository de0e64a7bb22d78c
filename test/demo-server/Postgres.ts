/** A temporary PostgreSQL on a free port, removed with the scope. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Data, Effect, Schedule, type Scope } from "effect"

const INSTALLED = "/usr/lib/postgresql"

/** The newest installed version; undefined if there is none. */
const version = (existsSync(INSTALLED) ? readdirSync(INSTALLED) : [])
  .toSorted((a, b) => Number(b) - Number(a))
  .find((version) => existsSync(join(INSTALLED, version, "bin/initdb")))

/** The folder of the server's programs. */
const bin = version === undefined ? undefined : join(INSTALLED, version, "bin")

/** Creates a database in 40 ms instead of 250 ms. Older versions have only this strategy. */
const COPIED = Number(version) >= 15 ? ["--strategy=file_copy"] : []

/** `initdb` rejects root. As root it runs as this user. */
const USER = "postgres"
const isRoot = process.getuid?.() === 0
const numberOf = (flag: string) => Number(execFileSync("id", [flag, USER], { encoding: "utf8" }))
const hasUser = (): boolean => {
  try {
    return numberOf("-u") > 0
  } catch {
    return false
  }
}

/** Why no PostgreSQL is available; undefined if one is. */
export const withoutPostgres: string | undefined =
  bin === undefined
    ? `no PostgreSQL server is installed under ${INSTALLED}`
    : isRoot && !hasUser()
      ? `PostgreSQL does not run as root, and there is no user ${USER}`
      : undefined

class NoPostgres extends Data.TaggedError("NoPostgres")<{ readonly message: string }> {}

export interface Postgres {
  /** The address of a new, empty database. */
  readonly database: Effect.Effect<string>
  /** The address of a new database with what is in another one, to which nobody is connected. */
  readonly copyOf: (address: string) => Effect.Effect<string>
  /** Stops the server immediately and keeps its data. */
  readonly stop: Effect.Effect<void>
  /** Starts it again, on the same port. */
  readonly start: Effect.Effect<void>
  /** Suspends the server's processes until the scope ends, so that it stops responding. */
  readonly hush: (processes: ReadonlyArray<number>) => Effect.Effect<void, never, Scope.Scope>
}

const freePort = Effect.callback<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" ? (address?.port ?? 0) : 0)))
  })
})

/** Stops the program when its standard input closes, also if the test process is killed. */
const GUARD = '"$@" & pid=$!; read _; kill -QUIT $pid 2>/dev/null; wait $pid'

const ended = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
  })

/** A running server. */
export const startPostgres: Effect.Effect<Postgres, never, Scope.Scope> = Effect.gen(function* () {
  if (bin === undefined || withoutPostgres !== undefined) return yield* Effect.die(withoutPostgres)
  const as = isRoot ? { uid: numberOf("-u"), gid: numberOf("-g") } : {}
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "sluice-postgres-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
  if (as.uid !== undefined && as.gid !== undefined) chownSync(folder, as.uid, as.gid)
  const data = join(folder, "data")
  const run = (program: string, words: ReadonlyArray<string>) =>
    execFileSync(join(bin, program), words, { ...as, cwd: folder, stdio: ["ignore", "ignore", "inherit"] })
  run("initdb", ["-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"])
  const port = yield* freePort
  let child: ChildProcess | undefined
  const settings = {
    fsync: "off",
    max_connections: "120",
    shared_buffers: "16MB",
    // One second by default.
    deadlock_timeout: "20ms"
  }
  const server = [
    join(bin, "postgres"),
    "-D",
    data,
    "-k",
    folder,
    "-h",
    "127.0.0.1",
    "-p",
    String(port),
    ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  ]
  const ready = Effect.try({
    try: () => run("pg_isready", ["-q", "-h", "127.0.0.1", "-p", String(port)]),
    catch: () => new NoPostgres({ message: "PostgreSQL does not answer" })
  })
  const start = Effect.gen(function* () {
    child = spawn("sh", ["-c", GUARD, "sh", ...server], {
      ...as,
      cwd: folder,
      stdio: ["pipe", "ignore", "ignore"]
    })
    yield* Effect.retry(ready, { schedule: Schedule.spaced("50 millis"), times: 600 })
  })
  const stop = Effect.suspend(() => {
    child?.stdin?.end()
    return child === undefined ? Effect.void : ended(child)
  })
  yield* Effect.acquireRelease(Effect.orDie(start), () => stop)
  let made = 0
  const create = (...options: ReadonlyArray<string>) =>
    Effect.sync(() => {
      const name = `accounts_${++made}`
      run("createdb", [...COPIED, ...options, "-h", "127.0.0.1", "-p", String(port), "-U", USER, name])
      return `postgres://${USER}@127.0.0.1:${port}/${name}`
    })
  return {
    start: Effect.orDie(start),
    stop,
    hush: (processes) =>
      Effect.acquireRelease(
        Effect.sync(() => processes.forEach((pid) => process.kill(pid, "SIGSTOP"))),
        () => Effect.sync(() => processes.forEach((pid) => process.kill(pid, "SIGCONT")))
      ),
    database: create(),
    copyOf: (address) => create("-T", new URL(address).pathname.slice(1))
  }
})
