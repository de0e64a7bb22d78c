/** E-books, mails and archives: files that contain others. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { DocumentFormats, documentFormats, type DocumentFormat } from "@sluice/rag/formats"
import { Effect, Fiber, Latch } from "effect"
import { vi } from "vitest"
import { chunk } from "../../packages/rag/src/chunking/Chunker.ts"
import { splitMailbox } from "../../packages/rag/src/formats/mail/Mbox.ts"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { png } from "../rag/DocxWriter.ts"
import { brokenLaw } from "../rag/FigureLaws.ts"
import { epub, epubParts, mail } from "../rag/MailWriter.ts"
import { textRows, xlsx } from "../rag/OfficeWriter.ts"
import { zip } from "../rag/ZipWriter.ts"

const parsed = (path: string, bytes: Uint8Array) =>
  Effect.map(parse({ path, bytes }), (document) => {
    assert.isUndefined(brokenLaw(document))
    return document
  })
const utf8 = (text: string) => new TextEncoder().encode(text)
const placesOf = (document: Parameters<typeof chunk>[0]) =>
  chunk(document).map(({ headings, locator }) => [headings.join(" › "), locator])
const sample = (name: string) =>
  readFileSync(join(import.meta.dirname, "../../apps/demo-server/samples", name))

const FEES = xlsx([
  {
    name: "Winter",
    rows: textRows([
      ["Berth", "Fee"],
      ["Q1", "50"]
    ])
  }
])
const HEADERS = {
  From: "=?utf-8?Q?J=C3=B8rn?= <jorn@example.org>",
  To: "Anna <anna@example.org>",
  Date: "Sun, 3 May 2026 08:00:00 +0000"
}

describe("an e-book", () => {
  const chapters = {
    "title.xhtml": "<h1>The Lock</h1><p>by Jørn</p>",
    "one two.xhtml":
      '<h1>Water</h1><p>The gate opens at six.</p><figure><img src="../pictures/gate.png" alt="The gate"/></figure>',
    "two.xhtml": "<p>It closes at nine.</p>",
    "three.xhtml": "<p>Mooring costs fifty crowns.</p>"
  }

  it.effect("has its chapters, with titles of the table of contents where they have none", () =>
    Effect.gen(function* () {
      const more = [{ name: "OEBPS/pictures/gate.png", content: png(40, 30) }]
      const document = yield* parsed(
        "lock.epub",
        epub("The Lock", chapters, { "one two.xhtml": "I", "three.xhtml": "Fees" }, more)
      )
      assert.strictEqual(document.title, "The Lock")
      assert.strictEqual(
        document.text,
        "The Lock\n\nby Jørn\n\nWater\n\nThe gate opens at six.\n\nThe gate\n\nIt closes at nine.\n\nFees\n\nMooring costs fifty crowns."
      )
      assert.deepStrictEqual(placesOf(document), [
        ["The Lock", "front matter"],
        ["Water", "chapter 1"],
        ["Water", "chapter 1"],
        ["Water", "chapter 1"],
        ["Fees", "chapter 2"]
      ])
      assert.isDefined(document.figures[0]?.crop)
    })
  )

  it.effect("with encrypted text is rejected, and with obfuscated fonts it is not", () =>
    Effect.gen(function* () {
      const protectedBy = (algorithm: string) =>
        zip([
          ...epubParts("The Lock", chapters),
          {
            name: "META-INF/encryption.xml",
            content: `<encryption xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:EncryptionMethod Algorithm="${algorithm}"/></enc:EncryptedData></encryption>`
          }
        ])
      const error = yield* Effect.flip(
        parse({ path: "lock.epub", bytes: protectedBy("http://www.w3.org/2001/04/xmlenc#aes128-cbc") })
      )
      assert.strictEqual(error.reason, "Encrypted")
      yield* parsed("lock.epub", protectedBy("http://www.idpf.org/2008/embedding"))
    })
  )
})

describe("a mail", () => {
  it.live("has its text and its attachments, each by its format", () =>
    Effect.gen(function* () {
      const document = yield* parsed(
        "fees.eml",
        utf8(
          mail(
            { ...HEADERS, Subject: "Fees of the winter" },
            {
              html: "<p>Dear Anna,</p><table><tr><th>Night</th><th>Fee</th></tr><tr><td>one</td><td>50</td></tr></table>"
            },
            [
              { name: "fees.xlsx", bytes: FEES },
              { name: "inspection-report.pdf", bytes: sample("inspection-report.pdf") },
              { name: "virus.exe", bytes: utf8("MZ") }
            ]
          )
        )
      )
      assert.strictEqual(document.title, "Fees of the winter")
      assert.include(
        document.text,
        "Fees of the winter\n\nFrom: Jørn <jorn@example.org>\nTo: Anna <anna@example.org>\nDate: 3 May 2026\n\nDear Anna,\n\nNight | Fee\none | 50\n\nfees.xlsx\n\nWinter\n\nBerth | Fee\nQ1 | 50"
      )
      const places = placesOf(document)
      assert.deepStrictEqual(places.slice(0, 3), [
        ["Fees of the winter", "message of 3 May 2026"],
        ["Fees of the winter", "message of 3 May 2026"],
        ["Fees of the winter › fees.xlsx › Winter", "message of 3 May 2026, attachment 1, Winter!A1:B2"]
      ])
      assert.match(places.at(-1)?.[1] ?? "", /^message of 3 May 2026, attachment 2, page \d$/)
      assert.match(
        document.faults.map(({ message }) => message).join("\n"),
        /attachment 3 was left out\. virus\.exe: \.exe files are not supported/
      )
    })
  )

  it.effect("is read if it was saved as UTF-16", () =>
    Effect.gen(function* () {
      const text = mail({ ...HEADERS, Subject: "Fees of the winter" }, { text: "Grüße" })
      const bytes = new Uint8Array(Buffer.from(`\uFEFF${text}`, "utf16le"))
      const document = yield* parsed("fees.eml", bytes)
      assert.strictEqual(document.title, "Fees of the winter")
      assert.include(document.text, "Grüße")
    })
  )

  it.effect("in a mailbox is a section of its own, also with blank lines that start with From", () =>
    Effect.gen(function* () {
      const messages = ["One", "Two"].map((Subject, i) =>
        mail({ ...HEADERS, Date: `Mon, ${4 + i} May 2026 08:00:00 +0000`, Subject }, { text: `Text ${i}` })
      )
      const box = messages
        .map((own) => `From jorn@example.org Mon May  4 08:00:00 2026\r\n${own}\r\n`)
        .join("")
      const document = yield* parsed("in.mbox", utf8(box))
      assert.deepStrictEqual(placesOf(document), [
        ["One", "message of 4 May 2026"],
        ["Two", "message of 5 May 2026"]
      ])
      assert.strictEqual(document.title, "in")
    })
  )

  it("in a mailbox ends at a blank line before a line From, whatever its lines end with", () => {
    const bodies = ["The gate.\n", "Dear Anna,\nFrom here on.\n", "", "A line.\r\n\r\nThe end.\r\n\r", "Last"]
    const box = bodies.map((body, i) => `From jorn@example.org\nSubject: ${i}\n\n${body}\n`).join("")
    const split = splitMailbox(utf8(box)).map((bytes) => Buffer.from(bytes).toString())
    assert.deepStrictEqual(split, [
      "Subject: 0\n\nThe gate.",
      "Subject: 1\n\nDear Anna,\nFrom here on.",
      "Subject: 2\n",
      "Subject: 3\n\nA line.\r\n\r\nThe end.\r",
      "Subject: 4\n\nLast\n"
    ])
  })

  it("is split off from a mailbox of 20 MB without a search of all the rest for each", () => {
    const message = `From jorn@example.org\nSubject: Gate\n\n${"The gate is open.\n".repeat(50)}\n`
    assert.lengthOf(splitMailbox(utf8(message.repeat(20_000))), 20_000)
  })

  it.effect("that is damaged does not cost the others of its mailbox", () =>
    Effect.gen(function* () {
      const deep = Array.from(
        { length: 300 },
        (_, i) => `Content-Type: multipart/mixed; boundary="b${i}"\n\n--b${i}\n`
      ).join("")
      const good = (Subject: string) => mail({ ...HEADERS, Subject }, { text: "The gate is open." })
      const box = (messages: ReadonlyArray<string>) =>
        utf8(messages.map((own) => `From jorn@example.org\n${own}\n\n`).join(""))
      const document = yield* parsed("in.mbox", box([good("One"), `Subject: Deep\n${deep}`, good("Three")]))
      assert.deepStrictEqual(
        placesOf(document).map(([heading]) => heading),
        ["One", "Three"]
      )
      assert.match(document.faults[0]?.message ?? "", /^message 2 was left out\. in\.mbox: .*damaged/)
      const many = yield* parsed(
        "in.mbox",
        box([good("One"), ...Array.from({ length: 60 }, () => `Subject: Deep\n${deep}`)])
      )
      assert.lengthOf(many.faults, 51)
      assert.match(many.faults.at(-1)?.message ?? "", /^10 more messages/)
    })
  )

  it.effect("without a header is rejected", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(parse({ path: "a.eml", bytes: utf8("Dear Anna, the fee is 50.") }))
      assert.strictEqual(error.reason, "Malformed")
    })
  )
})

describe("an archive", () => {
  it.effect("has each of its files with its path, and pictures beside them", () =>
    Effect.gen(function* () {
      const document = yield* parsed(
        "all.zip",
        zip([
          { name: "docs/", content: "" },
          { name: "docs/gate.md", content: "# Gate\n\nIt opens at six.\n\n![The gate](pictures/gate.png)\n" },
          { name: "docs/pictures/gate.png", content: png(40, 30) },
          { name: "fees.xlsx", content: FEES },
          { name: "__MACOSX/._fees.xlsx", content: "x" },
          {
            name: "mail.eml",
            content: mail({ ...HEADERS, Subject: "Fees" }, { text: "See below" }, [
              { name: "fees.xlsx", bytes: FEES }
            ])
          },
          { name: "broken.docx", content: "PK\u0003\u0004" }
        ])
      )
      const places = placesOf(document).map(([, place]) => place)
      assert.deepStrictEqual(
        [...new Set(places)],
        [
          "docs/gate.md",
          "docs/pictures/gate.png, page 1",
          "fees.xlsx, Winter!A1:B2",
          "mail.eml, message of 3 May 2026",
          "mail.eml, message of 3 May 2026, attachment 1, Winter!A1:B2"
        ]
      )
      assert.isDefined(document.figures[0]?.crop)
      assert.deepStrictEqual(document.faults.map(({ message }) => message.split(".")[0]).toSorted(), [
        "broken",
        "docs/pictures/gate"
      ])
    })
  )

  it.effect("in an archive in an archive is not opened without end", () =>
    Effect.gen(function* () {
      let bytes = zip([{ name: "a.md", content: "The gate." }])
      for (let depth = 0; depth < 4; depth++) bytes = zip([{ name: "b.zip", content: bytes }])
      const error = yield* Effect.flip(parse({ path: "deep.zip", bytes }))
      assert.match(error.message, /more than 3 files deep/)
    })
  )

  it.effect("of mails with PDFs, at the same time as another, waits for none of its own threads", () =>
    Effect.gen(function* () {
      const report = sample("inspection-report.pdf")
      const bytes = zip([{ name: "a.pdf", content: report }])
      const documents = yield* Effect.all(
        Array.from({ length: 6 }, (_, i) => parse({ path: `${i}.zip`, bytes })),
        { concurrency: "unbounded" }
      )
      for (const { locators } of documents)
        assert.strictEqual(locators?.at(-1)?.label.startsWith("a.pdf, page"), true)
    })
  )

  it.live("ends, with the limit's name, when what is inside it takes too long", () =>
    Effect.gen(function* () {
      const begun = yield* Latch.make()
      const endless: DocumentFormat = {
        id: "endless",
        label: "Endless",
        extensions: ["endless"],
        mediaTypes: [],
        parse: () => Effect.andThen(begun.open, Effect.never)
      }
      const bytes = zip([{ name: "a.endless", content: "a" }])
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
      const parsing = yield* parse({ path: "a.zip", bytes }).pipe(
        Effect.provideService(DocumentFormats, [...documentFormats, endless]),
        Effect.flip,
        Effect.forkChild
      )
      yield* begun.await
      vi.advanceTimersByTime(302_000)
      const { message, reason } = yield* Fiber.join(parsing)
      assert.strictEqual(reason, "TooLarge")
      assert.match(message, /took more than 301 s for what is inside it/)
    }).pipe(Effect.ensuring(Effect.sync(() => vi.useRealTimers())))
  )
})
