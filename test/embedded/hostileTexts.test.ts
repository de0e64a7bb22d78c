/** Texts that are made to take much time of the models. */
import { assert, it } from "@effect/vitest"
import { readSentences } from "@sluice/embedded"

it("the reader's time does not grow with the digits of a label", () => {
  const text = `Fig.图${"0".repeat(16_000)}`
  const started = process.threadCpuUsage()
  readSentences(text.slice(0, 500), [{ title: "", text }])
  assert.isBelow(process.threadCpuUsage(started).user, 1e6)
})

it("the reader's time grows with the length of a row of numbers only", () => {
  const text = `The gate ${"1.".repeat(40_000)}`
  const started = process.threadCpuUsage()
  readSentences("How many boats use the gate?", [{ title: "", text }])
  assert.isBelow(process.threadCpuUsage(started).user, 3e6)
})
