/** `ingestOnce.ts FOLDER LIBRARY`: one writer in a process of its own, to be killed or to compete. */
import * as Embedded from "@sluice/embedded"
import { Library } from "@sluice/rag"
import { Effect, Stream } from "effect"

const [folder = "", path = ""] = process.argv.slice(2)

await Effect.gen(function* () {
  const library = yield* Library.open(path)
  yield* Stream.runForEach(library.ingestEvents(folder), ({ type }) =>
    Effect.sync(() => {
      if (type === "committed") process.stdout.write("committed\n")
    })
  )
}).pipe(Effect.scoped, Effect.provide(Embedded.layer), Effect.runPromise)
