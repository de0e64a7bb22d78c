/** The server as a child process: its output and its exit. */
import { spawn } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { temporaryFolder } from "./TestServer.ts"

const main = fileURLToPath(new URL("../../apps/demo-server/src/main.ts", import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A temporary data folder whose server skips the samples, which take seconds. */
export const dataFolder = Effect.tap(temporaryFolder, (data) =>
  Effect.promise(() => writeFile(join(data, "samples-read"), ""))
)

/** The address and the first credentials in the banner. */
export const addressIn = (printed: string): URL => new URL(/http:\/\/\S+/.exec(printed)?.[0] ?? "")
export const keyIn = (printed: string): string => /sk-\w{48}/.exec(printed)?.[0] ?? ""
export const tokenIn = (printed: string): string => /sat-\w{48}/.exec(printed)?.[0] ?? ""

/** Variables of the environment that would change the tests. */
const CLEARED = /^(SLUICE_|PORT$|HOST$)/

/**
 * Starts `main.ts`. `printed` waits for a text on standard output; `ended` for the end, of itself or by `signal`.
 *
 * The child is killed when the scope closes.
 */
export const startProcess = Effect.fnUntraced(function* (
  env: Record<string, string>,
  {
    args = ["--conditions=@sluice/source", main],
    fileBlocks,
    disk,
    ...options
  }: {
    readonly uid?: number
    readonly cwd?: string
    /** Limits files to so many blocks of 512 bytes, like a full disk. */
    readonly fileBlocks?: number
    /** Size of a disk of its own for the data folder, such as `64k`. Needs `unshare`. */
    readonly disk?: string
    /** Arguments of Node. Default: those that start this version. */
    readonly args?: ReadonlyArray<string>
  } = {}
) {
  const node = [process.execPath, ...args]
  // Without the trap, the limit's signal would end the process.
  const limited = ["sh", "-c", `trap '' XFSZ; ulimit -f ${fileBlocks}; exec "$@"`, "sh", ...node]
  const mounted = `mount -t tmpfs -o size=${disk} tmpfs "$SLUICE_DATA"; exec "$@"`
  const onDisk = ["unshare", "-rm", "sh", "-c", mounted, "sh", ...node]
  const [command = "", ...words] = disk !== undefined ? onDisk : fileBlocks === undefined ? node : limited
  const inherited = Object.entries(process.env).filter(([name]) => !CLEARED.test(name))
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(command, words, {
        env: { ...Object.fromEntries(inherited), PORT: "0", ...env },
        ...options
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  let stdout = ""
  let stderr = ""
  child.stdout.on("data", (chunk) => (stdout += String(chunk)))
  child.stderr.on("data", (chunk) => (stderr += String(chunk)))
  const exit = new Promise<Ended>((resolve) => {
    child.once("close", (code) => resolve({ code, stdout, stderr }))
  })

  return {
    printed: (text: string) =>
      Effect.callback<string, Ended>((resume) => {
        const look = () => {
          if (stdout.includes(text)) resume(Effect.succeed(stdout))
        }
        child.stdout.on("data", look)
        look()
        void exit.then((ended) => resume(Effect.fail(ended)))
        return Effect.sync(() => child.stdout.off("data", look))
      }),
    ended: Effect.promise(() => exit),
    signal: (signal: "SIGTERM" | "SIGINT" | "SIGKILL") => Effect.sync(() => child.kill(signal))
  }
})
