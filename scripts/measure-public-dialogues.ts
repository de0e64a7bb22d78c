/**
 * Measures follow-ups on the public dialogues in `test/qa/public-dialogues.jsonl`: recall@20 of the question as it was understood,
 * without a model and with a scripted one, against that of the question as a person rewrote it.
 *
 * ```sh
 * node --conditions=@sluice/source scripts/measure-public-dialogues.ts [--held-out] [--misses]
 * ```
 */
import * as Embedded from "@sluice/embedded"
import { Effect, Layer } from "effect"
import { NodeServices } from "@effect/platform-node"
import { LoopbackGateway } from "../test/core/LoopbackGateway.ts"
import {
  dialogues,
  layerScripted,
  measureFollowUps,
  measureStandalone,
  openLibrary
} from "../test/qa/PublicDialogues.ts"

const isMeasured = process.argv.includes("--held-out")
const of = dialogues.filter(({ heldOut }) => heldOut === isMeasured)

const measure = (model: string) =>
  Effect.gen(function* () {
    const library = yield* openLibrary()
    for (const language of ["en", "zh"] as const) {
      const found = yield* measureFollowUps(
        library,
        of.filter((dialogue) => dialogue.language === language),
        (question, standalone, understood) => {
          if (process.argv.includes("--misses")) console.log(`  ${question} → ${understood} (${standalone})`)
        }
      )
      const share = (count: number) => (count / found.byHand).toFixed(3)
      console.log(
        model,
        language,
        found,
        `asked ${share(found.asAsked)}, understood ${share(found.understood)}`
      )
    }
    const gateway = yield* Effect.serviceOption(LoopbackGateway)
    const calls = () => (gateway._tag === "Some" ? gateway.value.seen.length : 0)
    const before = calls()
    const { asked, changed } = yield* measureStandalone(library, of)
    console.log(model, `standalone: ${asked}, changed:`, changed, `calls: ${calls() - before}`)
  }).pipe(Effect.scoped)

await Effect.gen(function* () {
  yield* measure("offline")
  yield* Effect.provide(measure("scripted"), layerScripted)
}).pipe(Effect.provide(Layer.mergeAll(Embedded.layer, NodeServices.layer)), Effect.runPromise)
