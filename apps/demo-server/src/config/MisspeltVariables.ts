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

/** Changes of one letter, or of two neighbours, that make one text of the other. */
const distance = (a: string, b: string): number => {
  let before: Array<number> = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next[j] = Math.min(
        last[j]! + 1,
        next[j - 1]! + 1,
        last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1),
        isSwap ? before[j - 2]! + 1 : Number.POSITIVE_INFINITY
      )
    }
    before = last
    last = next
  }
  return last[b.length]!
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
      const near = (other: string) => distance(withoutPrefix(name), withoutPrefix(other))
      const nearest = [...known].reduce((best, other) => (near(other) < near(best) ? other : best))
      return near(nearest) <= Math.min(2, withoutPrefix(nearest).length / 4) ? [{ name, nearest }] : []
    })
})
