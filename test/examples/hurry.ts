/** Makes the waits between looks at a task (5 to 15 seconds) as short as they can be; time-outs are left alone. */
const { setTimeout } = globalThis

const hurried = (
  run: (...args: ReadonlyArray<unknown>) => void,
  millis = 0,
  ...args: ReadonlyArray<unknown>
) => setTimeout(run, millis >= 5000 && millis <= 15_000 ? 1 : millis, ...args)

globalThis.setTimeout = Object.assign(hurried, setTimeout) as typeof setTimeout
