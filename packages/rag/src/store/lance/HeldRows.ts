/** All passages of a small collection in memory, as of one version: a search then brings addresses alone. */
import type { StoredPassage } from "../../document/Document.ts"
import { rememberedPassage } from "./FoundPassages.ts"
import type { Table } from "./Lance.ts"
import { addressedRows } from "./LanceRows.ts"
import { VECTOR_INDEX } from "./LanceVectorIndex.ts"

/**
 * Bytes that are held, in all collections together: 14,000 passages of 1,024 numbers, 28,000 of 384. Of more, the one that
 * was asked least lately is let go.
 */
const HELD_BYTES = 80_000_000

/** Reading 10,000 passages costs what so many questions gain; a version that changes sooner is not read. */
const HELD_AFTER = 40

/** A collection's passages. Places count from 0. */
export interface HeldRows {
  /** The table at that version. */
  readonly table: Table
  readonly version: number
  /** Whether the index has all vectors: then its codes alone name the nearest, and `distances` puts them in order. */
  readonly codes: boolean
  readonly bytes: number
  /** Where the row of an address is. */
  readonly placeOf: (address: bigint) => number | undefined
  readonly passage: (place: number) => StoredPassage
  /** A copy, for it goes to the caller; undefined where the text has no direction. */
  readonly vector: (place: number) => Float32Array | undefined
  /** 1 - cosine of a vector and each one held; 1 where one has no direction. */
  readonly distances: (vector: Float32Array) => (place: number) => number
}

/** Whose rows they are, and of which store; the one asked last stands last. Nothing else keeps rows in memory. */
const held = new Map<object, { readonly store: object; readonly rows: HeldRows }>()

/** Bytes that are held now. */
export const heldBytes = (): number => [...held.values()].reduce((sum, { rows }) => sum + rows.bytes, 0)

/** Lets go what is held of a store. */
export const letGoAll = (of: object): void => {
  for (const [holder, { store }] of held) if (store === of) held.delete(holder)
}

/** Holds the rows of one table of a store. `openAt` opens it at a version, to be read only. */
export const holderOf = (store: object, dimension: number, openAt: (version: number) => Promise<Table>) => {
  const self = {}
  let asked = 0
  const letGo = (): void => {
    held.delete(self)
    asked = 0
  }
  return {
    letGo,
    /** The rows, where they are held. */
    rows: (): HeldRows | undefined => {
      const own = held.get(self)
      if (own === undefined) return undefined
      held.delete(self)
      held.set(self, own)
      return own.rows
    },
    /** Counts a question to what is not held. True for the one by which reading has become worth it. */
    isDue: (): boolean => {
      asked = held.has(self) ? 0 : asked + 1
      return asked === HELD_AFTER
    },
    /** Reads the table as it is now, unless that is too much. */
    read: async (table: Table): Promise<void> => {
      const version = await table.version()
      const found = await readRows(await openAt(version), version, dimension)
      if (found === undefined) return
      letGo()
      held.set(self, { store, rows: found })
      for (const oldest of held.keys()) {
        if (heldBytes() <= HELD_BYTES) return
        held.delete(oldest)
      }
    }
  }
}
export type Holder = ReturnType<typeof holderOf>

/** Keys of passages, in all tables that were read. */
let keys = 0

const readRows = async (table: Table, version: number, dimension: number): Promise<HeldRows | undefined> => {
  const count = await table.countRows("passage IS NOT NULL")
  let bytes = count * dimension * Float32Array.BYTES_PER_ELEMENT
  if (bytes > HELD_BYTES) return undefined
  const flat = new Float32Array(count * dimension)
  const places = new Map<bigint, number>()
  const texts: Array<Buffer> = []
  const ends: Array<number> = []
  for await (const batch of table
    .query()
    .where("passage IS NOT NULL")
    .select(["passage", "vector"])
    .withRowId()) {
    const { addresses, json, jsonEnds, vectorAt } = addressedRows(batch, dimension)
    const before = ends.at(-1) ?? 0
    addresses.forEach((address, i) => {
      const vector = vectorAt(i)
      if (vector !== undefined) flat.set(vector, places.size * dimension)
      places.set(address, places.size)
      ends.push(before + jsonEnds[i]!)
    })
    // What comes with the batch is freed with it.
    texts.push(Buffer.from(json))
    bytes += json.length
    if (bytes > HELD_BYTES) return undefined
  }
  const all = Buffer.concat(texts)
  const index = await table.indexStats(VECTOR_INDEX)
  const first = keys
  keys += count
  const vector = (place: number) => flat.subarray(place * dimension, (place + 1) * dimension)
  const norms = Float64Array.from({ length: count }, (_, place) =>
    Math.sqrt(product(vector(place), vector(place)))
  )
  return {
    table,
    version,
    codes: index?.numUnindexedRows === 0,
    bytes,
    placeOf: (address) => places.get(address),
    passage: (place) => {
      const [start, end] = [ends[place - 1] ?? 0, ends[place]!]
      return rememberedPassage(first + place, end - start, () => all.toString("utf8", start, end))
    },
    vector: (place) => (norms[place] === 0 ? undefined : vector(place).slice()),
    distances: (asked) => {
      const norm = Math.sqrt(product(asked, asked))
      return (place) => 1 - product(asked, vector(place)) / (norm * norms[place]! || 1)
    }
  }
}

/** Four sums side by side: each addition need not wait for the one before. */
const product = (x: Float32Array, y: Float32Array): number => {
  let [a, b, c, d] = [0, 0, 0, 0]
  const { length } = x
  const whole = length & ~3
  for (let i = 0; i < whole; i += 4) {
    a += x[i]! * y[i]!
    b += x[i + 1]! * y[i + 1]!
    c += x[i + 2]! * y[i + 2]!
    d += x[i + 3]! * y[i + 3]!
  }
  for (let i = whole; i < length; i++) a += x[i]! * y[i]!
  return a + b + c + d
}
