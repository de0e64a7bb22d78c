/** Changes of a source while all of it is read, which may take hours. */
import { Library, type SourceItem } from "@sluice/rag"
import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Latch, Stream } from "effect"
import { modelsLayer } from "./Models.ts"
import { testFolder } from "./TestFolder.ts"

const sync = (
  library: Library["Service"],
  items: ReadonlyArray<SourceItem>,
  options?: { readonly partial: boolean }
) => library.sync("folder", Stream.fromIterable(items), options)

/** A library, and a sync of its source that reads the items `slow` until the gate opens. */
const reading = Effect.fnUntraced(function* (before: ReadonlyArray<SourceItem>, slow: ReadonlyArray<string>) {
  const library = yield* Library.open((yield* testFolder).library)
  yield* sync(library, before)
  const gate = yield* Latch.make()
  const begun = yield* Latch.make()
  const read = Effect.as(Effect.andThen(begun.open, gate.await), { text: "An old text." })
  const running = yield* Effect.forkScoped(
    sync(
      library,
      slow.map((id) => ({ id, read }))
    )
  )
  yield* begun.await
  return {
    library,
    change: (...items: ReadonlyArray<SourceItem>) => sync(library, items, { partial: true }),
    finish: Effect.andThen(gate.open, Fiber.join(running)),
    texts: Effect.flatMap(library.documents, (documents) =>
      Effect.forEach(documents, ({ id, path }) =>
        Effect.map(library.passages(id), ([passage]) => `${path}: ${passage?.text}`)
      )
    )
  }
})

it.live("a change is written while the source is read, and what was read before does not replace it", () =>
  Effect.gen(function* () {
    const before = ["missing", "same"].map((id): SourceItem => ({ id, text: "A text." }))
    const { change, finish, texts } = yield* reading(before, ["a", "b"])
    const saved = [
      { id: "a", text: "A new text." },
      { id: "c", text: "A third text." },
      { id: "same", text: "A text." }
    ]
    expect(yield* change(...saved)).toMatchObject({ added: 2, unchanged: 1 })
    expect(yield* texts).toEqual(["a: A new text.", "c: A third text.", "missing: A text.", "same: A text."])
    // Its stream gave neither `c` nor `same`: the change is later.
    expect(yield* finish).toMatchObject({ removed: 1 })
    expect(yield* texts).toEqual(["a: A new text.", "b: An old text.", "c: A third text.", "same: A text."])
  }).pipe(Effect.scoped, Effect.provide(modelsLayer))
)

it.live("what is removed while it is read is not written, and a later sync gives it again", () =>
  Effect.gen(function* () {
    const { change, finish, library, texts } = yield* reading([{ id: "b", text: "A text." }], ["a", "b"])
    expect(yield* change({ removed: "a" }, { removed: "b" })).toMatchObject({ removed: 1 })
    yield* finish
    expect(yield* texts).toEqual([])
    expect(yield* sync(library, [{ id: "a", text: "An old text." }])).toMatchObject({ added: 1 })
    // Nothing of the syncs that have ended is left to overtake it.
    expect(yield* change({ id: "a", text: "A text." })).toMatchObject({ replaced: 1 })
    expect(yield* sync(library, [])).toMatchObject({ removed: 1 })
  }).pipe(Effect.scoped, Effect.provide(modelsLayer))
)

it.live("a change that was given before counts less than what is given later", () =>
  Effect.gen(function* () {
    const { finish, library, texts } = yield* reading([], ["z"])
    const gate = yield* Latch.make()
    const begun = yield* Latch.make()
    const slow = {
      id: "a",
      read: Effect.as(Effect.andThen(begun.open, gate.await), { text: "An old text." })
    }
    const first = yield* Effect.forkScoped(sync(library, [slow], { partial: true }))
    yield* begun.await
    yield* sync(library, [{ id: "a", text: "A new text." }], { partial: true })
    yield* gate.open
    yield* Fiber.join(first)
    yield* finish
    expect(yield* texts).toEqual(["a: A new text.", "z: An old text."])
  }).pipe(Effect.scoped, Effect.provide(modelsLayer))
)
