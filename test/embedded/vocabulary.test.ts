/** What the vocabulary keeps in memory. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { embedText } from "@sluice/embedded"
import { expect, it } from "vitest"

setFlagsFromString("--expose-gc")
const gc: () => void = runInNewContext("gc")

const heap = (): number => {
  gc()
  return process.memoryUsage().heapUsed
}

it("keeps the words of a passage, not the text that the passage is a part of", () => {
  const size = 1_000_000
  const embedPart = (i: number) => {
    const text = `${Buffer.alloc(size, "reed ").toString()} extraordinarily${i}long`
    embedText(text.slice(-1000))
  }
  embedPart(0)
  const before = heap()
  for (let i = 1; i <= 12; i++) embedPart(i)
  expect(heap() - before).toBeLessThan(6 * size)
})
