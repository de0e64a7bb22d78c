/** Conversations on the command line, and an evaluation of the answers that were rated. */
import { spawn } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { afterAll, beforeAll, expect, test } from "@effect/vitest"
import { AnswerBody } from "../../apps/demo-server/src/contract/index.ts"
import { filesOf, startServer } from "../demo-server/TestServer.ts"
import { sluiceHere } from "../cli/Launcher.ts"

const TEXT = "The mill is 12 metres high.\n\nThe mill was built in 1790."
const launcher = join(import.meta.dirname, "../../apps/demo-server/bin/sluice.js")

let folder = ""
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-chat-"))
  await writeFile(join(folder, "mill.md"), TEXT)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test("chat answers each line, and a follow-up by the line before", async () => {
  const args = [launcher, "chat", "--docs", folder, "--data", join(folder, "chat"), "--json"]
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"] })
  child.stdin.end("How high is the mill?\n\nAnd when was it built?\n")
  let output = ""
  for await (const piece of child.stdout.setEncoding("utf8")) output += String(piece)
  const [first, second] = output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  expect(first.answer).toContain("12 metres")
  expect(second.standalone).toEqual({ question: "When was the mill built?", by: "carried" })
  expect(second.answer).toContain("1790")
})

test("eval library --from-feedback asks what was rated up", async () => {
  const data = join(folder, "server")
  const rate = Effect.gen(function* () {
    const server = yield* startServer({ data })
    yield* server.call("/documents", { body: filesOf({ "mill.md": TEXT }) })
    const ask = (json: object) => server.json(AnswerBody, "/qa", { json })
    const { conversation } = yield* ask({ question: "How high is the mill?", conversation: "new" })
    const at = `/conversations/${conversation?.id}/turns`
    yield* ask({ question: "And when was it built?", conversation: conversation?.id })
    yield* server.call(`${at}/1/rating`, { method: "PUT", json: { rating: "down" } })
    yield* server.call(`${at}/2/rating`, { method: "PUT", json: { rating: "up" } })
  })
  await Effect.runPromise(Effect.scoped(rate))
  const { stdout } = await sluiceHere(["eval", "library", "--from-feedback", "--data", data, "--json"])
  const result = JSON.parse(stdout)
  expect(result.queries).toBe(1)
  expect(JSON.stringify(result)).toContain('"hit@3":1')
})
