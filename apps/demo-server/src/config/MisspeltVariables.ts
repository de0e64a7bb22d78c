/** Finds variables of the environment whose names are nearly those of others. */
import { type ConfigProvider, Effect } from "effect"

/** The names below a path, which begins every name that is found: `SLUICE` for `SLUICE_DATA`. */
const namesBelow = (
  { load }: Pick<ConfigProvider.ConfigProvider, "load">,
  path: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<string>> =>
  load([...path]).pipe(
    Effect.orElseSucceed(() => undefined),
    Effect.flatMap((node) => {
      // Kubernetes sets `SLUICE_PORT` to `tcp://…` for a service of that name.
      const isSet = node?.value !== undefined && !node.value.startsWith("tcp://")
      const own = isSet ? [path.join("_")] : []
      const keys = node?._tag === "Record" ? [...node.keys] : []
      return Effect.map(
        Effect.forEach(keys, (key) => namesBelow({ load }, [...path, key])),
        (below) => [...own, ...below.flat()]
      )
    })
  )

/** Whether so many changes of one letter, or swaps of two neighbours, make one text of the other. */
const isWithin = (edits: number, a: string, b: string): boolean => {
  if (edits < 0) return false
  if (a === "" || b === "") return a.length + b.length <= edits
  if (a[0] === b[0]) return isWithin(edits, a.slice(1), b.slice(1))
  const isSwap = a[0] === b[1] && a[1] === b[0]
  const others = [
    [a.slice(1), b],
    [a, b.slice(1)],
    isSwap ? [a.slice(2), b.slice(2)] : [a.slice(1), b.slice(1)]
  ]
  return others.some(([first = "", second = ""]) => isWithin(edits - 1, first, second))
}

const withoutPrefix = (name: string) => name.replace(/^SLUICE_/, "")

/** Pairs of a variable that is set but not `known`, and the known one that it may be meant to be. */
export const misspeltVariables = Effect.fnUntraced(function* (
  provider: ConfigProvider.ConfigProvider,
  known: ReadonlySet<string>
) {
  const names = yield* namesBelow(provider, ["SLUICE"])
  return names
    .filter((name) => !known.has(name))
    .flatMap((name) => {
      const isNear = (edits: number, other: string) =>
        edits <= other.length / 4 && isWithin(edits, withoutPrefix(name), other)
      const near = [0, 1, 2].flatMap((edits) =>
        [...known].filter((other) => isNear(edits, withoutPrefix(other)))
      )
      return near[0] === undefined ? [] : [{ name, nearest: near[0] }]
    })
})
