/** Background maintenance of the collections. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Embedded from "@sluice/embedded"
import { Effect, FileSystem, Queue, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { openCollections } from "../../apps/demo-server/src/libraries/OpenCollections.ts"

describe("maintenance of the collections", () => {
  it.effect("runs once an hour for open collections that still exist", () =>
    Effect.gen(function* () {
      const ended = yield* Queue.unbounded<string>()
      const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          const end = span.end.bind(span)
          span.end = (time, exit) => {
            end(time, exit)
            if (span.name.endsWith(".maintain")) Queue.offerUnsafe(ended, span.name)
          }
          return span
        }
      })
      yield* Effect.gen(function* () {
        const { collection, remove, defaultCollection } = yield* openCollections(
          folder,
          false,
          () => Effect.void
        )
        for (const name of ["gates", "quays"]) yield* (yield* collection(name, true)).library
        yield* defaultCollection.library
        // Known but not open
        yield* collection("weirs", true)
        yield* remove("quays")
        yield* TestClock.adjust("59 minutes")
        assert.strictEqual(yield* Queue.size(ended), 0)
        for (let hour = 0; hour < 2; hour++) {
          yield* TestClock.adjust("1 minute")
          const names: Array<string> = []
          while (names.at(-1) !== "OpenCollections.maintain") names.push(yield* Queue.take(ended))
          assert.strictEqual(names.filter((name) => name === "Library.maintain").length, 2)
          yield* TestClock.adjust("59 minutes")
        }
      }).pipe(Effect.withTracer(tracer))
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Embedded.layer]))
  )
})
