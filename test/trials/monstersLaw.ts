/** A law of all formats: twice the file takes at most 2.5 times the operations. */
import assert from "node:assert/strict"
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import type { Monster } from "./repeatedConstructs.ts"

const MAX_RATIO = 2.5
/** Fewer operations are not a growth. */
const MIN_OPERATIONS = 200_000

interface Measured {
  readonly operations: number
  /** Of processor time. */
  readonly seconds: number
}

/** Checks the law. `stop` ends the thread that counts. */
export const makeLaw = () => {
  const worker = new Worker(new URL("operations.ts", import.meta.url), {
    execArgv: ["--conditions=@sluice/source"]
  })
  const measure = async ({ make, path }: Monster, size: number): Promise<Measured> => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage({ path, text: make(size) })
    const [measured] = await once(worker, "message")
    return measured
  }
  return {
    stop: () => worker.terminate(),
    assertLinear: async (monster: Monster, size: number): Promise<void> => {
      // The first file of a format compiles its code.
      await measure(monster, 1000)
      const half = await measure(monster, size / 2)
      const whole = await measure(monster, size)
      const counts = `${monster.name}: ${half.operations} operations for ${size / 2} characters, ${whole.operations} for ${size}`
      assert(whole.operations <= Math.max(MIN_OPERATIONS, MAX_RATIO * half.operations), counts)
      // Natives such as regular expressions are not counted: above a generous limit, their processor time may not grow faster
      // either. A slow machine takes longer for both.
      const seconds = `${monster.name}: ${half.seconds.toFixed(1)}, then ${whole.seconds.toFixed(1)} s of processor time`
      assert(whole.seconds <= Math.max(1 + size / 50_000, 3 * half.seconds), seconds)
    }
  }
}
