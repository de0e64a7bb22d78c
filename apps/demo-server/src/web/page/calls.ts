/** Requests in progress and their outcome. */
import { signal, type ReadonlySignal, type Signal } from "@preact/signals"
import { request, toRequestError, type RequestError } from "../api/request.ts"
import type { Secret } from "../ui/Button.tsx"
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

export type Changes = ReturnType<typeof makeChanges>

/** Changes of a list: the error of the last one, and the secret that it created. */
export const makeChanges = (refresh: () => Promise<unknown>) => {
  const error = signal<RequestError>()
  const secret = signal<Secret>()
  /** Sends a change, refreshes, and announces what `change` returns. Resolves to whether it succeeded. */
  const send = async (change: () => Promise<string>): Promise<boolean> => {
    let message = ""
    const done = await tryRequest(error, async () => (message = await change()))
    // Also after a failure: another program may have changed the list.
    void refresh().then(() => done && announce(message))
    return done
  }
  /** Sends a change whose response is not needed, and announces `message`. */
  const sendRequest = (message: string, method: string, path: string, body?: unknown) =>
    send(async () => {
      await request(method, path, { body })
      return message
    })
  const clear = () => {
    error.value = undefined
    secret.value = undefined
  }
  return { error, secret, send, sendRequest, clear }
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
  readonly value?: A | undefined
  readonly error?: RequestError
  readonly milliseconds?: number
}

export type CallWork<A> = (signal: AbortSignal, onProgress: (value: A) => void) => Promise<A>

export type RunningCall<A> = ReturnType<typeof makeCall<A>>

/** One call at a time. `message` is announced when it succeeds. */
export const makeCall = <A>(message: string) => {
  const now = signal<CallState<A>>({ state: "idle" })
  let controller: AbortController | undefined
  /** Aborts the call. What has arrived of it stays. */
  const stop = () => {
    controller?.abort()
    controller = undefined
    const { state, value } = now.value
    if (state === "working") now.value = { state: value === undefined ? "idle" : "done", value }
  }
  /** Starts a call and aborts the one before. Never rejects. */
  const run = async (work: CallWork<A>): Promise<void> => {
    controller?.abort()
    const mine = (controller = new AbortController())
    const started = performance.now()
    const show = (state: CallState<A>) => {
      if (controller === mine) now.value = state
      return controller === mine
    }
    show({ state: "working" })
    try {
      const value = await work(mine.signal, (value) => show({ state: "working", value }))
      if (show({ state: "done", value, milliseconds: performance.now() - started })) announce(message)
    } catch (thrown) {
      show({ state: "failed", error: toRequestError(thrown), value: now.value.value })
    }
  }
  const clear = () => {
    stop()
    now.value = { state: "idle" }
  }
  return { now: now as ReadonlySignal<CallState<A>>, run, stop, clear }
}
