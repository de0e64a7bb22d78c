/** What mail programs write differently from each other. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"

const parsed = (path: string, text: string) => parse({ path, bytes: new TextEncoder().encode(text) })

const message = (subject: string, more = "", body = "See you.") =>
  `From: Anna <anna@example.org>\nTo: Ole <ole@example.org>\nSubject: ${subject}\n${more}\n${body}\n\n`

describe("a mailbox", () => {
  const from = (day: string) => `From ole@example.org ${day} 08:00:00 2026\n`

  it.effect("goes on after a line of text that begins with From", () =>
    Effect.gen(function* () {
      const first = message("Gate", "", "Hello,\n\nFrom now on the gate closes at nine.\nThe code is 4711.")
      const { blocks, faults, text } = yield* parsed(
        "plans.mbox",
        `${from("Sun May  3")}${first}${from("Mon May  4")}${message("Fees")}`
      )
      assert.include(text, "From now on the gate closes at nine.\nThe code is 4711.")
      assert.deepStrictEqual(
        blocks.flatMap(({ heading }) => heading ?? []),
        ["Gate", "Fees"]
      )
      assert.deepStrictEqual(faults ?? [], [])
    })
  )

  it.effect("says which of its messages have no header", () =>
    Effect.gen(function* () {
      const { faults = [] } = yield* parsed(
        "plans.mbox",
        `${from("Sun May  3")}${message("Gate")}${from("Mon May  4")}\nlost text\n`
      )
      assert.match(faults[0]?.message ?? "", /^message 2 was left out.*no header/)
    })
  )
})

describe("a mail", () => {
  for (const date of ["Sun, 3 May 2026 22:30:00 -0700", "Sun, 3 May 2026 00:30 +0200 (CEST)"]) {
    it.effect(`of ${date} is of the day that its sender had`, () =>
      Effect.gen(function* () {
        const { locators = [] } = yield* parsed("gate.eml", message("Gate", `Date: ${date}\n`))
        assert.deepStrictEqual(
          locators.map(({ label }) => label),
          ["message of 3 May 2026"]
        )
      })
    )
  }

  it.effect("says who else got it", () =>
    Effect.gen(function* () {
      const { text } = yield* parsed("gate.eml", message("Gate", "Cc: The Board <board@example.org>\n"))
      assert.include(text, "Cc: The Board <board@example.org>")
    })
  )

  it.effect("has forwarded mails and invitations as attachments with places of their own", () =>
    Effect.gen(function* () {
      const part = (type: string, content: string) =>
        `--b\nContent-Type: ${type}\nContent-Disposition: inline\n\n${content}\n`
      const {
        faults,
        locators = [],
        text
      } = yield* parsed(
        "fair.eml",
        message(
          "Fair",
          "Date: Sun, 3 May 2026 08:00:00 +0000\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n",
          `${part("text/plain", "See below.")}${part("message/rfc822", message("Key", "Date: Sat, 2 May 2026 08:00:00 +0000\n", "It is under the mat."))}${part("text/calendar", "BEGIN:VEVENT\nLOCATION:Quay C\nEND:VEVENT")}--b--`
        )
      )
      const at = (quote: string) => {
        const start = text.indexOf(quote)
        return locators.find((locator) => locator.start <= start && start < locator.end)?.label
      }
      assert.strictEqual(
        at("It is under the mat."),
        "message of 3 May 2026, attachment 1, message of 2 May 2026"
      )
      assert.strictEqual(at("LOCATION:Quay C"), "message of 3 May 2026, attachment 2")
      assert.deepStrictEqual(faults ?? [], [])
    })
  )
})
