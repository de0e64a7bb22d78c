/** A workbook beyond the limits. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { parseAndChunk } from "../../packages/rag/src/formats/ParsedFile.ts"
import { textCell, xlsx } from "../rag/OfficeWriter.ts"

it.effect("a workbook of 100,000 rows is rejected, and the message names the limit", () =>
  Effect.gen(function* () {
    const row = (i: number) =>
      `<row r="${i}">${textCell(`A${i}`, `Berth ${i} at the long quay of the harbour`)}${textCell(`B${i}`, "a fee of fifty crowns for each night ".repeat(30))}</row>`
    const rows = Array.from({ length: 100_000 }, (_, i) => row(i + 1)).join("")
    const error = yield* Effect.flip(
      parseAndChunk({ path: "big.xlsx", bytes: xlsx([{ name: "Big", rows }]) })
    )
    assert.strictEqual(error.reason, "TooLarge")
    assert.match(error.message, /big\.xlsx: .*(?:passages; the limit|inflates past the limit|took )/)
  })
)
