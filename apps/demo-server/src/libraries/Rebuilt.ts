/** Several rebuilds as one: their events one after the other, and one report at the end. */
import type { IngestEvent, IngestReport, RagError } from "@sluice/rag"
import { Stream } from "effect"

const NOTHING: IngestReport = {
  added: 0,
  replaced: 0,
  unchanged: 0,
  removed: 0,
  faulty: 0,
  passages: 0,
  failed: []
}

const sum = (one: IngestReport, other: IngestReport): IngestReport => ({
  added: one.added + other.added,
  replaced: one.replaced + other.replaced,
  unchanged: one.unchanged + other.unchanged,
  removed: one.removed + other.removed,
  faulty: one.faulty + other.faulty,
  passages: one.passages + other.passages,
  failed: [...one.failed, ...other.failed]
})

/** `done` comes once, with the sum of the reports. */
export const rebuiltTogether = (
  rebuilds: ReadonlyArray<Stream.Stream<IngestEvent, RagError>>
): Stream.Stream<IngestEvent, RagError> =>
  Stream.fromIterable(rebuilds).pipe(
    Stream.flatMap((rebuild) => rebuild),
    Stream.mapAccum(
      () => ({ left: rebuilds.length, report: NOTHING }),
      (so, event): [{ left: number; report: IngestReport }, ReadonlyArray<IngestEvent>] => {
        if (event.type !== "done") return [so, [event]]
        const now = { left: so.left - 1, report: sum(so.report, event.report) }
        return [now, now.left === 0 ? [{ ...event, report: now.report }] : []]
      }
    )
  )
