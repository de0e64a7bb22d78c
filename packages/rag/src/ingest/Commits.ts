/** What one commit takes of the batches that are ready: few files, because a search reads from each. */
import { Clock, Effect, Stream } from "effect"

/** A commit is due at so many passages: 10,000 are six files then, which nobody has to join … */
const COMMIT_PASSAGES = 2_000
/** … at so many bytes of files, so that a few large ones do not fill the memory … */
const COMMIT_BYTES = 32 * 1024 * 1024
/** … or so long after the last one, so that a crash loses little of a slow model's work, or of a source that pauses. */
const COMMIT_MILLIS = 1_000
/** How often is looked whether one is due while nothing comes. */
const LOOK_MILLIS = 250

/** What a commit is put together of. */
export interface CommitPart {
  readonly passages: number
  /** Of its files. */
  readonly bytes: number
  /** Of its documents. */
  readonly ids: ReadonlyArray<string>
}

interface Waiting<A> {
  readonly parts: ReadonlyArray<A>
  /** When the last commit was given away. */
  readonly last: number
}

/** The parts of each commit, in their order: the first by itself, and no document twice in one. */
export const commitsOf = <A extends CommitPart, E, R>(
  parts: Stream.Stream<A, E, R>
): Stream.Stream<ReadonlyArray<A>, E, R> =>
  parts.pipe(
    Stream.merge(Stream.tick(LOOK_MILLIS), { haltStrategy: "left" }),
    Stream.mapAccumEffect(
      (): Waiting<A> => ({ parts: [], last: Number.NEGATIVE_INFINITY }),
      (waiting, part) => Effect.map(Clock.currentTimeMillis, (now) => take(waiting, part, now)),
      { onHalt: (waiting) => (waiting.parts.length === 0 ? [] : [waiting.parts]) }
    ),
    Stream.rechunk(1)
  )

const take = <A extends CommitPart>(
  { last, parts }: Waiting<A>,
  part: A | void,
  now: number
): readonly [Waiting<A>, ReadonlyArray<ReadonlyArray<A>>] => {
  const isLate = now - last >= COMMIT_MILLIS
  if (part === undefined)
    return isLate && parts.length > 0 ? [{ parts: [], last: now }, [parts]] : [{ parts, last }, []]
  const bytes = sum(parts, "bytes")
  const ids = new Set(parts.flatMap((waiting) => waiting.ids))
  const apart = bytes + part.bytes > COMMIT_BYTES || part.ids.some((id) => ids.has(id))
  const before = apart && parts.length > 0 ? [parts] : []
  const all = apart ? [part] : [...parts, part]
  const due = isLate || sum(all, "passages") >= COMMIT_PASSAGES || sum(all, "bytes") >= COMMIT_BYTES
  return due
    ? [{ parts: [], last: now }, [...before, all]]
    : [{ parts: all, last: before.length > 0 ? now : last }, before]
}

const sum = (parts: ReadonlyArray<CommitPart>, key: "bytes" | "passages"): number =>
  parts.reduce((total, part) => total + part[key], 0)
