/** A process that has one model and computes what its parent sends. */

import { getPriority, setPriority } from "node:os"

/** A call, and what it is measured with. `query`: rerank the texts for it, else embed them. */
export interface Call {
  readonly texts: ReadonlyArray<string>
  readonly query?: string
}

export interface Assignment {
  /** A folder with `config.json`, `tokenizer.json` and `onnx/`. */
  readonly model: string
  readonly dtype: "fp32" | "q8"
  readonly maxTokens: number
  /** The URL of `@huggingface/transformers`. */
  readonly library: string
}

/** A vector for each text, or its score. */
export type Values = ReadonlyArray<ArrayLike<number>>

export interface Reply {
  readonly milliseconds: number
  /** Of all threads of the process. */
  readonly cpuMilliseconds: number
  /** The longest time in which the process's event loop did nothing else. */
  readonly waitMilliseconds: number
  readonly values: ReadonlyArray<ReadonlyArray<number>>
}

/** What our model's thread takes from its priority. Others do the same, so that other load slows both. */
const NICER = 10

/** Before the runtime starts its threads, which inherit it. */
export const lowerPriority = (): void => setPriority(Math.min(19, getPriority() + NICER))

/** How often the event loop should turn. */
const TICK_MILLISECONDS = 5

/** Answers each call of the parent process. */
export const answerCalls = (make: (assignment: Assignment) => Promise<(call: Call) => Promise<Values>>) => {
  const run = make(JSON.parse(process.argv[2] ?? "{}"))
  process.on("message", (call: Call) => {
    void (async () => {
      const compute = await run
      const started = performance.now()
      const before = process.cpuUsage()
      let last = started
      let longest = 0
      const tick = () => {
        longest = Math.max(longest, performance.now() - last)
        last = performance.now()
      }
      const timer = setInterval(tick, TICK_MILLISECONDS)
      const values = await compute(call)
      tick()
      clearInterval(timer)
      const { system, user } = process.cpuUsage(before)
      const reply: Reply = {
        milliseconds: performance.now() - started,
        cpuMilliseconds: (system + user) / 1000,
        waitMilliseconds: longest,
        values: values.map((value) => Array.from(value))
      }
      process.send?.(reply)
    })()
  })
}
