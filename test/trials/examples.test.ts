/** Runs every program of examples/ against a gateway. Each prints what its last comments say. */
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { ACCESS_TOKEN, API_KEY, MODELS, type World } from "../conformance/ReferenceGateway.ts"
import { serveGateway } from "../conformance/serveGateway.ts"
import { END } from "../examples/end.ts"

const examples = join(import.meta.dirname, "../../examples")
const hurry = join(import.meta.dirname, "../examples/hurry.ts")
const inTurn = join(import.meta.dirname, "../examples/inTurn.ts")
const programs = (await readdir(examples)).filter((name) => name.endsWith(".ts"))

let folder = ""
/** What each program printed. */
let printed: ReadonlyMap<string, string>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-examples-"))
  // All in one process, because starting takes longer than running. The first one counts the calls of its process.
  const order = ["resilience.ts", ...programs.filter((name) => name !== "resilience.ts")]
  const all = await run([inTurn, ...order.map((name) => join(examples, name))])
  const each = all.split(`${END}\n`)
  printed = new Map(order.map((name, at) => [name, each[at] ?? ""]))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs Node with a gateway in the environment, and returns the output. `prepare` changes the gateway's state. */
const run = (
  args: ReadonlyArray<string>,
  prepare: (world: World) => void = () => undefined,
  changed: Record<string, string> = {}
): Promise<string> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const { url, world } = yield* serveGateway()
        prepare(world)
        const env = {
          ...process.env,
          SLUICE_GATEWAY_URL: url,
          SLUICE_API_KEY: API_KEY,
          SLUICE_ACCESS_TOKEN: ACCESS_TOKEN,
          SLUICE_EMBEDDING_MODEL: MODELS.embedding,
          SLUICE_RERANK_MODEL: MODELS.rerank,
          SLUICE_CHAT_MODEL: MODELS.chat,
          SLUICE_IMAGE_MODEL: MODELS.twoStepImage,
          SLUICE_VIDEO_MODEL: MODELS.video,
          SLUICE_IMAGE_TO_VIDEO_MODEL: MODELS.video,
          ...changed
        }
        const command = ["--conditions=@sluice/source", "--import", hurry, ...args]
        const { stdout } = yield* Effect.promise(() =>
          promisify(execFile)(process.execPath, command, { cwd: folder, env, encoding: "utf8" })
        )
        return stdout
      })
    )
  )

/** The lines that a program prints, from `// → text` at its end; `…` matches anything. */
const expectedLines = async (name: string): Promise<ReadonlyArray<string>> =>
  [...(await readFile(join(examples, name), "utf8")).matchAll(/^\/\/ → (.+)$/gm)].map(
    ([, line]) => line ?? ""
  )

const matching = (line: string): RegExp => {
  const parts = line.split("…").map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
  return new RegExp(`^${parts.join(".+")}$`)
}

describe("examples/", () => {
  it("has programs", () => expect(programs).toContain("video.ts"))

  it.each(programs)("%s has 10 to 30 lines and says how to run it", async (name) => {
    const text = await readFile(join(examples, name), "utf8")
    const lines = text.trimEnd().split("\n").length
    expect(lines).toBeGreaterThanOrEqual(10)
    expect(lines).toBeLessThanOrEqual(30)
    expect(text).toContain(`npx node --conditions=@sluice/source examples/${name}`)
  })

  it.each(programs)("%s prints the lines of its comments", async (name) => {
    const lines = await expectedLines(name)
    expect(lines.length).toBeGreaterThan(0)
    const output = (printed.get(name) ?? "").trimEnd().split("\n")
    expect(output).toHaveLength(lines.length)
    for (const [i, line] of lines.entries()) expect(output[i]).toMatch(matching(line))
  })

  it("video.ts writes the complete film", async () => {
    const film = await readFile(join(folder, "lock.mp4"))
    expect(film.subarray(4, 8).toString("latin1")).toBe("ftyp")
    expect((await readdir(folder)).filter((name) => name.endsWith(".part"))).toEqual([])
  })

  it.each([
    [{ SLUICE_EMBEDDING_MODEL: "" }, "SLUICE_EMBEDDING_MODEL is not set: set it to a model"],
    [{ SLUICE_API_KEY: "" }, "SLUICE_API_KEY is not set. Set it to the API key"],
    [{ SLUICE_API_KEY: "sk-two words" }, "SLUICE_API_KEY is not one word of visible ASCII"],
    [{ SLUICE_API_KEY: "sk-wrong-0123456789abcdef" }, "Check that the credential is complete"]
  ])("a program with %o prints one line of advice", async (changed, advice) => {
    const message = await run([join(examples, "embeddings.ts")], undefined, changed).then(
      (printed) => expect.fail(printed),
      ({ stderr }: { readonly stderr: string }) => stderr
    )
    expect(message).toContain(advice)
    expect(message.trimEnd().split("\n")).toHaveLength(1)
    expect(message).not.toContain("sk-")
  })

  it("video.ts resumes a task", async () => {
    const id = "task-of-yesterday"
    const output = await run([join(examples, "video.ts"), id], ({ videos }) =>
      videos.set(id, { id, looks: 0 })
    )
    expect(output).toMatch(
      /^task-of-yesterday in_progress .*\ntask-of-yesterday completed 100 %\nlock\.mp4: /
    )
  })
})
