/** A thread that counts the operations of parsing and chunking files: its counters are on before any module is compiled. */
import { Session } from "node:inspector/promises"
import { parentPort } from "node:worker_threads"

const session = new Session()
session.connect()
await session.post("Profiler.enable")
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true })

const { Effect } = await import("effect")
const { chunkParse } = await import("../../packages/rag/src/chunking/ChunkedParse.ts")
const { formatOf } = await import("../../packages/rag/src/formats/DocumentFormats.ts")
const { parseHere } = await import("../../packages/rag/src/formats/Parser.ts")

/** How often each block of JavaScript ran since the last call, summed up. */
const takeOperations = async (): Promise<number> => {
  const { result } = await session.post("Profiler.takePreciseCoverage")
  const ranges = result.flatMap(({ functions }) => functions.flatMap((called) => called.ranges))
  return ranges.reduce((sum, { count }) => sum + count, 0)
}

parentPort?.on("message", ({ path, text }: { readonly path: string; readonly text: string }) => {
  void (async () => {
    await takeOperations()
    const started = process.threadCpuUsage()
    const bytes = new TextEncoder().encode(text)
    const parsed = await Effect.runPromise(Effect.option(parseHere(formatOf(path)!, { path, bytes })))
    // A rejected file counts too.
    if (parsed._tag === "Some") await chunkParse(parsed.value, "crops")
    const seconds = process.threadCpuUsage(started).user / 1e6
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort?.postMessage({ operations: await takeOperations(), seconds })
  })()
})
