/** One thing that is asked of the server and shown while it comes. */
import { signal, type ReadonlySignal } from "@preact/signals"
import { toFailure, type Failure } from "../api/RequestError.ts"
import { announce } from "../ui/announce.ts"

/** `value` is there as soon as a part of it is; of a failed call it is what had come. */
export interface CallState<A> {
  readonly state: "idle" | "working" | "done" | "failed"
  readonly value?: A
  readonly failure?: Failure
  readonly milliseconds?: number
}

/** Does the work; `show` shows how far it has come. */
export type Work<A> = (signal: AbortSignal, show: (value: A) => void) => Promise<A>

export interface Call<A> {
  readonly now: ReadonlySignal<CallState<A>>
  /** Begins; what was under way is given up. Never rejects. */
  readonly run: (work: Work<A>) => Promise<void>
  /** Gives up what is under way; what has come of it stays. */
  readonly stop: () => void
  readonly clear: () => void
}

/** `done` is what screen readers are told at the end. */
export const makeCall = <A>(done: string): Call<A> => {
  const now = signal<CallState<A>>({ state: "idle" })
  let controller: AbortController | undefined
  const stop = () => {
    controller?.abort()
    controller = undefined
    const { value } = now.value
    if (now.value.state === "working")
      now.value = value === undefined ? { state: "idle" } : { state: "done", value }
  }
  const run = async (work: Work<A>) => {
    controller?.abort()
    const mine = new AbortController()
    controller = mine
    const started = performance.now()
    now.value = { state: "working" }
    try {
      const value = await work(mine.signal, (value) => {
        if (controller === mine) now.value = { state: "working", value }
      })
      if (controller !== mine) return
      now.value = { state: "done", value, milliseconds: performance.now() - started }
      announce(done)
    } catch (thrown) {
      if (controller !== mine) return
      const { value } = now.value
      now.value = { state: "failed", failure: toFailure(thrown), ...(value !== undefined && { value }) }
    }
  }
  return {
    now,
    run,
    stop,
    clear: () => {
      stop()
      now.value = { state: "idle" }
    }
  }
}
