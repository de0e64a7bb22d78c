/** Two texts as vectors, and how alike they are. */
import { embed } from "../api/gateway.ts"
import { makeCall } from "../page/runningCall.ts"
import { kept } from "../page/persisted.ts"
import { modelOf } from "./chosenModel.ts"

export const texts = kept<readonly [string, string]>("embed", [
  "The lower gate is opened when the levels are even.",
  "When are the gates of the lock opened?"
])

export interface Compared {
  readonly vectors: readonly [ReadonlyArray<number>, ReadonlyArray<number>]
  /** -1 to 1; undefined where a vector is all zeros. */
  readonly cosine: number | undefined
  readonly tokens: number | undefined
}

export const comparison = makeCall<Compared>("The texts were compared.")

const dot = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number =>
  a.reduce((sum, x, at) => sum + x * (b[at] ?? 0), 0)

export const cosineOf = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number | undefined => {
  const lengths = Math.sqrt(dot(a, a) * dot(b, b))
  return lengths === 0 ? undefined : dot(a, b) / lengths
}

export const compare = (): Promise<void> =>
  comparison.run(async (signal) => {
    const { data, usage } = await embed(modelOf("embed"), texts.value, signal)
    const at = (index: number) => data.find((each) => each.index === index)?.embedding ?? []
    const vectors = [at(0), at(1)] as const
    return { vectors, cosine: cosineOf(...vectors), tokens: usage?.total_tokens }
  })
