import { assert, it } from "@effect/vitest"
import { joinInPortions } from "@sluice/rag/formats"
import { Effect } from "effect"

const MIB = 1024 * 1024

it.live("large bytes are joined in portions, and other work runs between them", () =>
  Effect.promise(async () => {
    const parts = [...Array.from({ length: 32 }, (_, i) => Buffer.alloc(MIB, i)), Buffer.alloc(32 * MIB, "z")]
    let turns = 0
    let isOver = false
    const turn = () => {
      turns++
      if (!isOver) setImmediate(turn)
    }
    turn()
    const joined = await joinInPortions(parts)
    isOver = true
    assert.isTrue(joined.equals(Buffer.concat(parts)))
    assert.isAtLeast(turns, 16)
  })
)
