/** In a bundled program the file of the PDF thread is missing. The PDF is not at fault. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { build } from "vite"
import type { parsePdf } from "../../packages/rag/src/formats/pdf/Pdf.ts"
import { column, writePdf } from "./PdfWriter.ts"

type Bundle = Readonly<Record<"parsePdf", typeof parsePdf>>

describe("a bundled program", () => {
  it.effect("gets an error about the bundle, not about the PDF", () =>
    Effect.gen(function* () {
      const outDir = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "sluice-bundle-"))),
        (folder) => Effect.promise(() => rm(folder, { recursive: true }))
      )
      yield* Effect.promise(() =>
        build({
          configFile: false,
          logLevel: "error",
          ssr: { noExternal: true, resolve: { conditions: ["@sluice/source"] } },
          build: {
            ssr: join(import.meta.dirname, "../../packages/rag/src/formats/pdf/Pdf.ts"),
            outDir,
            minify: false,
            rolldownOptions: { output: { entryFileNames: "bundle.mjs" } }
          }
        })
      )
      const bundle: Bundle = yield* Effect.promise(() => import(join(outDir, "bundle.mjs")))
      const bytes = writePdf([{ marks: column(60, 700, ["The gate is open."]) }])
      const error = yield* Effect.flip(bundle.parsePdf("gate.pdf", bytes))
      assert.strictEqual(error.reason, "Internal")
      assert.match(
        error.message,
        /^gate\.pdf: .*WorkerThread\.js .*leave the packages @sluice\/\* out of it \(external\)/
      )
    })
  )
})
