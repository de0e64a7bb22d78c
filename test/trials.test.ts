/** Fixed, seeded samples of the long trials; `npm run -s torture` runs the full counts. */
import { it } from "vitest"
import { seeded } from "../bench/Random.ts"
import { formats } from "./trials/formats.ts"
import { gateway } from "./trials/gateway.ts"
import { kills } from "./trials/kills.ts"
import { ledger } from "./trials/ledger.ts"
import { parsing } from "./trials/parsing.ts"
import { pdf } from "./trials/pdf.ts"
import type { Trial } from "./trials/Trial.ts"
import { writers } from "./trials/writers.ts"

const rounds = (trial: Trial, count: number) => async () => {
  for (let round = 1; round <= count; round++) {
    await trial(seeded(round)).catch((cause: unknown) => {
      throw new Error(`seed ${round}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    })
  }
}

it("reads and cuts documents that nobody wrote, and loses no character", rounds(parsing, 300))
it("reads damaged documents of every format, or says why not", rounds(formats, 120), 60_000)
it("reads damaged PDFs in part, or says why not", rounds(pdf, 15), 60_000)
it("gives the right vectors or a typed error, whatever the gateway does", rounds(gateway, 25))
it(
  "leaves no half document when a writer is killed, and has in the end what one has that nobody killed",
  rounds(kills(3), 1),
  60_000
)
it("keeps every document whole when two processes write it", rounds(writers, 1), 60_000)
it("has a ledger that adds up when the server is killed", rounds(ledger, 1), 60_000)
