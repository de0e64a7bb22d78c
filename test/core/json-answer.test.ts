/** The JSON object in an answer of a chat model. */
import { assert, it } from "@effect/vitest"
import { jsonOf } from "../../packages/core/src/ai/JsonAnswer.ts"

it("is found in a code fence, with spaces and blank lines around it", () => {
  for (const fence of ["```json\n{}\n```", "```\n\n {}\n\n```", "```json \r\n{}```"])
    assert.strictEqual(jsonOf(`So {x}:\n${fence}\nDone {y}.`).trim(), "{}")
})

it("is looked for in time that grows with the answer's length", () => {
  const started = process.threadCpuUsage()
  jsonOf(`{x} \`\`\`${"\n".repeat(300_000)}{y}`)
  assert.isBelow(process.threadCpuUsage(started).user, 1e6)
})

it("is found behind reasoning without its first tag, and may name the tag", () => {
  assert.strictEqual(jsonOf('Is {"a":1} right?</think>\n{"a":2}'), '{"a":2}')
  assert.strictEqual(jsonOf('{"a":"</think>"}'), '{"a":"</think>"}')
})
