/** Bytes of server-sent events on their way from an upstream, as far as they are paid for. */
import { Failure } from "@sluice/core/contract"
import { Stream } from "effect"
import { finalEvent } from "../wire/FinalEvent.ts"
import { withoutUsage } from "../routing/StreamUsage.ts"
import type { Bounds } from "./ReportedUsage.ts"
import type { Tally } from "./StreamUsageCounter.ts"

/** What is said of a stream that was ended. */
export const tooLong = new Failure({
  status: 502,
  message:
    "The gateway wrote far more than this call may come to, and was ended: what came of it is paid for. Ask for more by `max_tokens`",
  code: "upstream_beyond_limit",
  retryable: false
})

const TOO_LONG = finalEvent(tooLong.body)

/** Whether more was written than the call may come to. */
export const isBeyond = (tally: Tally, { said, written }: Bounds): boolean =>
  tally.said() > said || tally.written() > written

/** Counted on their way; ended where they go far beyond what was asked for; without the usage that nobody asked for. */
export const paidEvents = <E>(
  stream: Stream.Stream<Uint8Array, E>,
  tally: Tally,
  bounds: Bounds,
  hidesUsage: boolean
): Stream.Stream<Uint8Array, E> =>
  Stream.suspend(() => {
    const shown = hidesUsage ? withoutUsage() : undefined
    const isTooLong = () => isBeyond(tally, bounds)
    const rest = Stream.suspend(() =>
      Stream.fromIterable([shown?.end() ?? new Uint8Array(), ...(isTooLong() ? [TOO_LONG] : [])])
    )
    return stream.pipe(
      Stream.map((chunk) => {
        tally.bytes(chunk)
        return shown?.push(chunk) ?? chunk
      }),
      Stream.takeUntil(isTooLong),
      Stream.concat(rest),
      Stream.filter(({ length }) => length > 0)
    )
  })
