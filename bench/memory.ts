/** Peak memory of ingest and queries, each size in its own process. */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { type Bench, rounded, say } from "./Bench.ts"
import { documentsFor, withFolder, writeCorpus } from "./corpus/CorpusFolder.ts"

const peak = (passages: number): Promise<{ readonly passages: number; readonly peakMegabytes: number }> =>
  withFolder(async (folder) => {
    await writeCorpus(join(folder, "docs"), documentsFor(passages))
    const child = join(import.meta.dirname, "memoryOfSize.ts")
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--conditions=@sluice/source", child, String(passages), folder],
      { encoding: "utf8" }
    )
    return JSON.parse(stdout)
  })

export const bench: Bench = async ({ quick }) => {
  const small = await peak(quick ? 1000 : 10_000)
  say(`  ${small.passages} passages: ${rounded(small.peakMegabytes, 0)} MB`)
  const large = await peak(quick ? 5000 : 100_000)
  return {
    [`peak memory at ${small.passages} passages (MB)`]: rounded(small.peakMegabytes, 0),
    [`peak memory at ${large.passages} passages (MB)`]: rounded(large.peakMegabytes, 0),
    "peak memory, large to small (ratio)": rounded(large.peakMegabytes / small.peakMegabytes)
  }
}
