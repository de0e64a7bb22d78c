/** A benchmark returns figures whose names include their units. */

/** Names end in the unit: `ingest passages/s`, `query p50 at 1,000 passages (ms)`. */
export type Figures = Readonly<Record<string, number>>

export interface BenchOptions {
  /** Small sizes, to check that it runs. Do not quote its figures. */
  readonly quick: boolean
  /** The configurations to measure; empty: all. */
  readonly with: ReadonlyArray<string>
  /** Folders of local models; empty: models with random weights. */
  readonly models: ReadonlyArray<string>
}

export type Bench = (options: BenchOptions) => Promise<Figures>

/** Prints progress to standard error. Standard output is for the result. */
export const say = (text: string): void => {
  process.stderr.write(`${text}\n`)
}

export const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits))

/** The value below which `share` of the samples are. */
export const percentile = (samples: ReadonlyArray<number>, share: number): number => {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

export const median = (samples: ReadonlyArray<number>): number => percentile(samples, 0.5)
