/** Runs a child process that prints `port N` when it listens, and stops it after `use`. */
import { spawn } from "node:child_process"

export const withChild = async <A>(file: string, use: (port: number) => Promise<A>): Promise<A> => {
  const child = spawn(process.execPath, ["--conditions=@sluice/source", file], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const ended = new Promise<void>((done) => child.once("exit", () => done()))
  try {
    const port = await new Promise<number>((resolve, reject) => {
      let output = ""
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        output += text
        const port = /port (\d+)/.exec(output)?.[1]
        if (port !== undefined) resolve(Number(port))
      })
      child.once("exit", (code) => reject(new Error(`${file} ended with ${code}: ${output}`)))
    })
    return await use(port)
  } finally {
    child.kill()
    await ended
  }
}
