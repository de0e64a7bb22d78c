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

describe("groupCommits", () => {
  it.effect("commits the first batch alone, then 2,000 passages at a time, then the rest", () =>
    Effect.gen(function* () {
      const parts = [..."abcdef"].map((id) => part(id, 1_000))
      assert.deepStrictEqual([...(yield* commits(parts))], ["a", "bc", "de", "f"])
    })
  )

  it.effect("puts two versions of a document in two commits", () =>
    Effect.gen(function* () {
      const parts = ["a", "b", "c", "b", "b", "d"].map((id) => part(id, 10))
      assert.deepStrictEqual([...(yield* commits(parts))], ["a", "bc", "b", "bd"])
    })
  )

  it.effect("limits a commit to 32 MB of files, unless one batch has more", () =>
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

  it.effect("commits at once if the last commit was a second ago", () =>
    Effect.gen(function* () {
      const parts = [..."abc"].map((id) => part(id, 10))
      assert.deepStrictEqual([...(yield* commits(parts, 1))], ["a", "b", "c"])
    })
  )

  it.effect("commits a second after the last commit if no batch follows", () =>
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
