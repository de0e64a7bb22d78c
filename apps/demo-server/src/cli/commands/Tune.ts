/** `sluice tune`: measures which fusion retrieves best from these documents. */
import { type TunedFusion, tune, type Tuning } from "@sluice/rag/evaluation"
import { Command } from "effect/cli"
import { libraryFlags } from "../library/Flags.ts"
import { withLibrary } from "../library/OpenLibrary.ts"
import { printResult } from "../output/Output.ts"

const COLUMNS = ["score", "hit@3", "MRR@10", "recall@20", "p"] as const

const row = ({ difference, fusion, ...metrics }: TunedFusion): string =>
  COLUMNS.map((name) => (name === "p" ? difference.p : metrics[name]).toFixed(4).padStart(10)).join("") +
  `  ${JSON.stringify(fusion)}`

const render = ({ fusion, fusions, note, questions }: Tuning): string =>
  [
    COLUMNS.map((name) => name.padStart(10)).join("") + "  fusion",
    ...fusions.map(row),
    `${questions} questions. ${note}`,
    `Best: ${JSON.stringify(fusion)}. In a program, pass it as { fusion }.`
  ].join("\n")

export const tuneCommand = Command.make("tune", libraryFlags, ({ collection, data, json }) =>
  withLibrary({ collection, data }, function* (library) {
    const tuning = yield* tune(library)
    yield* printResult(json, tuning, () => render(tuning))
  })
).pipe(
  Command.withDescription(
    "Measure which fusion of vector and keyword search works best for your documents. The questions are their own " +
      "headings and captions"
  )
)
