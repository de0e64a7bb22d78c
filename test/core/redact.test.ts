/** Removing credentials from texts. */
import { assert, describe, it } from "@effect/vitest"
import { makeRedact } from "@sluice/core/client"

describe.each([
  ["Basic dXNlcjpwYXNz", "bad header Basic dXNlcjpwYXNz here", "bad header <redacted> here"],
  ["open the old gate", "got open the old gate", "got <redacted>"],
  ["open the old gate", "it is open the whole day", "it is open the whole day"],
  ["open the old gate twice", "got open the old gat", "got <redacted>"],
  ["Bearer abcdefghijklmnop", "bad key abcdefghijklmnop", "bad key <redacted>"],
  ["Bearer abcdefghijklmnop", "Bearer abcdefghijklmnop", "Bearer <redacted>"]
])("a secret of several words, %s, in “%s”", (secret, text, redacted) => {
  it(`leaves “${redacted}”`, () => {
    assert.strictEqual(makeRedact(secret)(text), redacted)
  })
})
