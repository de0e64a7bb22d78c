/** Markdown marks are removed from sentences; code, plain text and tables keep the same characters. */
import { assert, describe, it } from "@effect/vitest"
import { layer, readSentences } from "@sluice/embedded"
import { Effect } from "effect"
import { expect } from "vitest"
import { readConversation } from "../../apps/demo-server/src/embedded/Conversation.ts"
import { library } from "../rag/SmallLibrary.ts"

const MARKED =
  "The rule of *all* names is [a-z](4), __init__ or 2 ** 8 of Map<string, number> in C:\\_t\\*.ini."

describe("a sentence is shown", () => {
  const shown = (text: string, format?: string) =>
    readSentences("What is the rule of all names?", [
      { title: "Names", text, ...(format === undefined ? {} : { format }) }
    ])[0]?.text

  it("without Markdown marks, and otherwise unchanged", () => {
    expect(shown(MARKED, "markdown")).toBe(
      "The rule of all names is a-z, init or 2 ** 8 of Map in C:_t*.ini."
    )
    for (const format of ["text", "html", "pdf", "docx", undefined])
      expect(shown(MARKED, format)).toBe(MARKED)
  })

  it("in the same way by the generative reader", () => {
    const passage = { passage: 1, title: "Names", text: MARKED, format: "text" }
    const content = `Passages:\n${JSON.stringify(passage)}\n\nQuestion: "What is the rule of all names?"`
    const { passages, question } = readConversation([{ role: "user", content }])
    expect(passages).toEqual([passage])
    expect(readSentences(question, passages)[0]?.text).toBe(MARKED)
  })

  it("in one line, with hyphenated words joined except in code and plain text", () => {
    const cut = "The rule of all names is long-\nwinded\n> 3."
    expect(shown(cut, "pdf")).toBe("The rule of all names is longwinded > 3.")
    expect(shown(cut, "text")).toBe("The rule of all names is long- winded > 3.")
    expect(shown(cut, "markdown")).toBe("The rule of all names is longwinded 3.")
  })

  it("with bars outside tables", () => {
    const piped = "sort names | uniq\ncat the rule of all names | sort"
    expect(shown(piped, "text")).toBe("cat the rule of all names | sort")
    expect(shown(piped, "html")).toBe("cat the rule of all names · sort")
  })
})

describe("an answer from a file", () => {
  const files = {
    "dough.ts":
      "export const proofingMinutes = (celsius: number): number => 240 * 2 ** (-(celsius - 18) / 8)\n",
    "oven.py": "def preheat_oven(self, __low__, *args, **kwargs): pass\n",
    "ticket.txt": "The regex of a ticket is [A-Z](\\d+) always.\n",
    "crate.html": "<p>The type of a crate is <b>Map&lt;string, number&gt;</b> now.</p>",
    "stock.csv": "item,price\nsoft *blue* towel,9\n",
    "flour.md": "The *flour* of the house is `rye_2`, see [mills](mills.md).\n"
  }

  it.effect("shows the file's text", () =>
    Effect.gen(function* () {
      const opened = yield* library(files)
      const answer = (question: string) => Effect.map(opened.ask(question), ({ answer }) => answer)
      assert.strictEqual(yield* answer("What is proofingMinutes?"), `${files["dough.ts"].trim()} [1]`)
      assert.strictEqual(yield* answer("What does preheat_oven take?"), `${files["oven.py"].trim()} [1]`)
      assert.strictEqual(yield* answer("What is the regex of a ticket?"), `${files["ticket.txt"].trim()} [1]`)
      assert.strictEqual(
        yield* answer("What is the type of a crate?"),
        "The type of a crate is Map<string, number> now. [1]"
      )
      assert.strictEqual(
        yield* answer("What is the price of the blue towel?"),
        "item: soft *blue* towel · price: 9 [1]"
      )
      assert.strictEqual(
        yield* answer("What is the flour of the house?"),
        "The flour of the house is rye_2, see mills. [1]"
      )
    }).pipe(Effect.provide(layer))
  )
})
