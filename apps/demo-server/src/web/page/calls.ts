/** Requests in progress and their outcome. */
import { signal, type ReadonlySignal, type Signal } from "@preact/signals"
import { toRequestError, type RequestError } from "../api/request.ts"
import { announce } from "../ui/Notices.tsx"

/** Runs `work` and puts its error into `error`. Resolves to whether it succeeded. */
export const tryRequest = async (
  error: Signal<RequestError | undefined>,
  work: () => Promise<unknown>
): Promise<boolean> => {
  error.value = undefined
  try {
    await work()
    return true
  } catch (thrown) {
    error.value = toRequestError(thrown)
    return false
  }
}

/** Sends a change, refreshes, and announces what `send` returns. Resolves to whether it succeeded. */
export const sendChange = async (
  refresh: () => Promise<unknown>,
  error: Signal<RequestError | undefined>,
  send: () => Promise<string>
): Promise<boolean> => {
  let message = ""
  const done = await tryRequest(error, async () => (message = await send()))
  // Also after a failure: another program may have changed the list.
  void refresh().then(() => done && announce(message))
  return done
}

/** Loads and shows a value for the current key. A response that is late for another key is dropped. */
export const loadCurrent = async <K, A>(
  key: ReadonlySignal<K>,
  load: (key: K) => Promise<A>,
  show: (value: A, key: K) => void,
  error: Signal<RequestError | undefined>
): Promise<void> => {
  const requested = key.value
  try {
    const value = await load(requested)
    if (requested !== key.value) return
    show(value, requested)
    error.value = undefined
  } catch (thrown) {
    if (requested === key.value) error.value = toRequestError(thrown)
  }
}

/** `value` is set as soon as a part of it has arrived; a failed call keeps that part. */
interface CallState<A> {
  readonly state: "idle" | "working" | "done" | "failed"
  readonly value?: A
  readonly error?: RequestError
  readonly milliseconds?: number
}

export type CallWork<A> = (signal: AbortSignal, onProgress: (value: A) => void) => Promise<A>

export interface RunningCall<A> {
  readonly now: ReadonlySignal<CallState<A>>
  /** Starts a call and aborts the one before. Never rejects. */
  readonly run: (work: CallWork<A>) => Promise<void>
  /** Aborts the call. What has arrived of it stays. */
  readonly stop: () => void
  readonly clear: () => void
}

/** One call at a time. `message` is announced when it succeeds. */
export const makeCall = <A>(message: string): RunningCall<A> => {
  const now = signal<CallState<A>>({ state: "idle" })
  let controller: AbortController | undefined
  const stop = () => {
    controller?.abort()
    controller = undefined
    const { value } = now.value
    if (now.value.state === "working")
      now.value = value === undefined ? { state: "idle" } : { state: "done", value }
  }
  const run = async (work: CallWork<A>) => {
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
      announce(message)
    } catch (thrown) {
      if (controller !== mine) return
      const { value } = now.value
      now.value = { state: "failed", error: toRequestError(thrown), ...(value !== undefined && { value }) }
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
