import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { type CommitPart, groupCommits } from "../../packages/rag/src/ingest/Commits.ts"

const MEGABYTE = 1024 * 1024

const part = (id: string, passages: number, bytes = passages): CommitPart => ({ ids: [id], passages, bytes })

/** The identifiers of each commit; `seconds` pass before each part. */
const commits = (parts: ReadonlyArray<CommitPart>, seconds = 0) =>
  Stream.fromIterable(parts).pipe(
    Stream.tap(() => TestClock.adjust(`${seconds} seconds`)),
    groupCommits,
    Stream.map((commit) => commit.flatMap(({ ids }) => ids).join("")),
    Stream.runCollect
  )

describe("what is written at once", () => {
  it.effect("the first batch by itself, then two thousand passages; the rest at the end", () =>
    Effect.gen(function* () {
      const parts = [..."abcdef"].map((id) => part(id, 1_000))
      assert.deepStrictEqual([...(yield* commits(parts))], ["a", "bc", "de", "f"])
    })
  )

  it.effect("no document twice: of what comes again each version is a commit", () =>
    Effect.gen(function* () {
      const parts = ["a", "b", "c", "b", "b", "d"].map((id) => part(id, 10))
      assert.deepStrictEqual([...(yield* commits(parts))], ["a", "bc", "b", "bd"])
    })
  )

  it.effect("no more than 32 MB of files, unless one batch has more", () =>
    Effect.gen(function* () {
      const parts = [
        part("a", 1, MEGABYTE),
        part("b", 1, 20 * MEGABYTE),
        part("c", 1, 20 * MEGABYTE),
        part("d", 1, 12 * MEGABYTE),
        part("e", 1, 64 * MEGABYTE),
        part("f", 1, 1)
      ]
      assert.deepStrictEqual([...(yield* commits(parts))], ["a", "b", "cd", "e", "f"])
    })
  )

  it.effect("what comes a second after the last commit waits for nothing", () =>
    Effect.gen(function* () {
      const parts = [..."abc"].map((id) => part(id, 10))
      assert.deepStrictEqual([...(yield* commits(parts, 1))], ["a", "b", "c"])
    })
  )

  it.effect("what came before a pause waits a second, not for the end of the pause", () =>
    Effect.gen(function* () {
      const given: Array<string> = []
      const parts = [..."abc"].map((id) => part(id, 10))
      const pausing = Stream.concat(Stream.fromIterable(parts), Stream.never).pipe(
        groupCommits,
        Stream.runForEach((commit) =>
          Effect.sync(() => given.push(commit.flatMap(({ ids }) => ids).join("")))
        )
      )
      yield* Effect.forkChild(pausing)
      yield* TestClock.adjust("750 millis")
      assert.deepStrictEqual(given, ["a"])
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(given, ["a", "bc"])
    })
  )
})
