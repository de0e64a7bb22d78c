/** A seeded sample of each long trial. `npm run -s torture` runs the full number of rounds. */
import { it } from "vitest"
import { seeded } from "../../bench/corpus/Random.ts"
import { documents } from "./documents.ts"
import { formats } from "./formats.ts"
import { gateway } from "./gateway.ts"
import { kills } from "./kills.ts"
import { ledger } from "./ledger.ts"
import { parsing } from "./parsing.ts"
import { pdf } from "./pdf.ts"
import type { Trial } from "./Trial.ts"
import { writers } from "./writers.ts"

const rounds = (trial: Trial, count: number) => async () => {
  for (let round = 1; round <= count; round++) {
    await trial(seeded(round)).catch((cause: unknown) => {
      throw new Error(`seed ${round}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    })
  }
}

it("parses and chunks random documents without losing a character", rounds(parsing, 300))
it("reads damaged documents of every format or gives the reason", rounds(formats, 240), 120_000)
it("keeps the calling thread free while hostile files are read", rounds(documents, 4), 120_000)
it("reads damaged PDFs partly or gives the reason", rounds(pdf, 15), 60_000)
it("returns correct vectors or a typed error from a faulty gateway", rounds(gateway, 25))
it(
  "leaves no partial document when writers are killed, and completes like an undisturbed ingest",
  rounds(kills(3), 1),
  60_000
)
it("keeps every document complete when two processes write it", rounds(writers, 1), 60_000)
it("keeps a consistent ledger when the server is killed", rounds(ledger, 1), 60_000)
