/**
 * A lone caller is waited for awake: a thread that sleeps needs 50 to 100 µs to be woken on a virtual machine, a quarter
 * of a call to an upstream beside it. For a while after a call began the event loop goes on turning, for its answer and
 * for the caller's next one (HAProxy's `busy-polling`); only where the call before was alone and answered within that
 * while. Of an upstream that thinks, and of many callers, it costs nothing.
 */
import { availableParallelism } from "node:os"

/** The longest that it stays awake. */
const MILLISECONDS = 0.5

/** Of the calls under way of one thread. With one core it would keep from work whom it waits for. */
export const makeBusyPoll = (
  now: () => number = () => performance.now(),
  cores: number = availableParallelism()
) => {
  let underWay = 0
  let until = 0
  /** Begins of calls: none came between a lone call's begin and its end where it is the same. */
  let begun = 0
  let answersSoon = false
  let turning = false
  const turn = () => {
    turning = underWay < 2 && now() < until
    if (turning) setImmediate(turn)
  }
  return {
    /** Begins a call; what it gives is called once when its answer is there. */
    begin: (): (() => void) => {
      const number = ++begun
      if (++underWay > 1 || cores < 2) return () => void underWay--
      const end = now() + MILLISECONDS
      until = end
      if (answersSoon && !turning) {
        turning = true
        setImmediate(turn)
      }
      return () => {
        underWay--
        answersSoon = begun === number && now() < end
      }
    }
  }
}
