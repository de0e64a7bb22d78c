/** For whom the event loop stays awake, and that it does not for long. */
import { assert, describe, it } from "@effect/vitest"
import { setImmediate } from "node:timers/promises"
import { makeBusyPoll } from "../../apps/demo-server/src/gateway/lane/BusyPoll.ts"

const watched = (cores?: number) => {
  let time = 0
  let looks = 0
  const { begin } = makeBusyPoll(() => {
    looks++
    return time
  }, cores)
  return {
    begin,
    pass: (milliseconds: number) => void (time += milliseconds),
    /** Whether the loop turns, though there is nothing to do. */
    isAwake: async () => {
      await setImmediate()
      const before = looks
      for (let i = 0; i < 5; i++) await setImmediate()
      return looks - before > 1
    }
  }
}

describe("busy polling", () => {
  it("is for a lone call after one that was answered soon, for a while", async () => {
    const { begin, isAwake, pass } = watched(2)
    const first = begin()
    assert.isFalse(await isAwake())
    pass(0.2)
    first()
    assert.isFalse(await isAwake())
    const second = begin()
    assert.isTrue(await isAwake())
    pass(0.2)
    second()
    assert.isTrue(await isAwake(), "the caller's next may follow")
    pass(0.4)
    assert.isFalse(await isAwake())
  })

  it("is not after an answer that came late", async () => {
    const { begin, isAwake, pass } = watched(2)
    begin()()
    const late = begin()
    pass(1)
    assert.isFalse(await isAwake())
    late()
    begin()
    assert.isFalse(await isAwake())
  })

  it("is not for several calls, nor after them", async () => {
    const { begin, isAwake } = watched(2)
    begin()()
    const one = begin()
    const other = begin()
    assert.isFalse(await isAwake())
    other()
    one()
    begin()
    assert.isFalse(await isAwake())
  })

  it("is not on a single core", async () => {
    const { begin, isAwake } = watched(1)
    begin()()
    begin()
    assert.isFalse(await isAwake())
  })
})
