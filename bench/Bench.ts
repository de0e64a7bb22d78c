/** What every bench is: a name and figures whose names carry their units. */

/** Names end in the unit: `ingest passages/s`, `query p50 at 1,000 passages (ms)`. */
export type Figures = Readonly<Record<string, number>>

export interface BenchOptions {
  /** Small sizes: to see that it runs, not to quote. */
  readonly quick: boolean
  /** The configurations to measure; empty: all. */
  readonly with: ReadonlyArray<string>
}

export type Bench = (options: BenchOptions) => Promise<Figures>

/** What a person wants to read while it runs; standard output is for the result. */
export const say = (text: string): void => {
  process.stderr.write(`${text}\n`)
}

export const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits))

/** The value below which `share` of the samples are. */
export const percentile = (samples: ReadonlyArray<number>, share: number): number => {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}
