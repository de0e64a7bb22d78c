/** Joins batches into commits: each commit writes a file of the table, and every search reads all of them. */
import { Clock, Effect, Stream } from "effect"

/** A commit ends at this many passages (10,000 are six files then, which need no compaction), … */
const COMMIT_PASSAGES = 2_000
/** … at this many bytes of files, which limits the memory, … */
const COMMIT_BYTES = 32 * 1024 * 1024
/** … or this long after the last one, so that a crash loses little of a slow model's work. */
const COMMIT_MILLIS = 1_000
/** How often that is checked while no batch arrives. */
const CHECK_MILLIS = 250

export interface CommitPart {
  readonly passages: number
  /** Size of its files. */
  readonly bytes: number
  /** Identifiers of its documents. */
  readonly ids: ReadonlyArray<string>
}

interface Pending<A> {
  readonly parts: ReadonlyArray<A>
  /** The time of the last commit. */
  readonly last: number
}

/** The parts of each commit, in their order. The first part is committed at once, and no commit has a document twice. */
export const groupCommits = <A extends CommitPart, E, R>(
  parts: Stream.Stream<A, E, R>
): Stream.Stream<ReadonlyArray<A>, E, R> =>
  parts.pipe(
    Stream.merge(Stream.tick(CHECK_MILLIS), { haltStrategy: "left" }),
    Stream.mapAccumEffect(
      (): Pending<A> => ({ parts: [], last: Number.NEGATIVE_INFINITY }),
      (pending, part) => Effect.map(Clock.currentTimeMillis, (now) => addPart(pending, part, now)),
      { onHalt: (pending) => (pending.parts.length === 0 ? [] : [pending.parts]) }
    ),
    Stream.rechunk(1)
  )

const addPart = <A extends CommitPart>(
  { last, parts }: Pending<A>,
  part: A | void,
  now: number
): readonly [Pending<A>, ReadonlyArray<ReadonlyArray<A>>] => {
  const isLate = now - last >= COMMIT_MILLIS
  if (part === undefined)
    return isLate && parts.length > 0 ? [{ parts: [], last: now }, [parts]] : [{ parts, last }, []]
  const ids = new Set(parts.flatMap((pending) => pending.ids))
  const separate = sum(parts, "bytes") + part.bytes > COMMIT_BYTES || part.ids.some((id) => ids.has(id))
  const before = separate && parts.length > 0 ? [parts] : []
  const all = separate ? [part] : [...parts, part]
  const isFull = isLate || sum(all, "passages") >= COMMIT_PASSAGES || sum(all, "bytes") >= COMMIT_BYTES
  return isFull
    ? [{ parts: [], last: now }, [...before, all]]
    : [{ parts: all, last: before.length > 0 ? now : last }, before]
}

const sum = (parts: ReadonlyArray<CommitPart>, key: "bytes" | "passages"): number =>
  parts.reduce((total, part) => total + part[key], 0)
