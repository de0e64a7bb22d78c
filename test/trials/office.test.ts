/**
 * What an office does: a folder of mixed files is followed, its collection is shared by two people, a file is edited and one is
 * removed, somebody asks a spreadsheet and a scan in French, and an agent asks over MCP. On the page in a browser, and over HTTP.
 */
import { Effect } from "effect"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import sharp from "sharp"
import { afterAll, assert, it } from "vitest"
import { callTool, connect, httpTransport } from "../mcp/McpClients.ts"
import { docx, p, r } from "../rag/DocxWriter.ts"
import { mail } from "../rag/MailWriter.ts"
import { pptx, shape, textRows, xlsx } from "../rag/OfficeWriter.ts"
import { addFiles, askFor, pageFixture } from "../web/pageFixture.ts"

let office = ""
afterAll(() => rm(office, { recursive: true, force: true }))

const HANDBOOK = (hour: string) =>
  `# Handbook\n\n## Lock\n\nThe lock at Harlow opens at ${hour} in the morning.\n`

/** A scanned page: only pixels. */
const scan = (lines: ReadonlyArray<string>): Promise<Uint8Array> => {
  const text = lines.map((line, i) => `<tspan x="90" y="${200 + i * 70}">${line}</tspan>`).join("")
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1240" height="900"><rect width="100%" height="100%" fill="white"/><text font-family="DejaVu Serif" font-size="40">${text}</text></svg>`
  return sharp(Buffer.from(svg)).png().toBuffer()
}

const fees = [
  ["Berth", "Fee"],
  ["North quay", "40"],
  ["South quay", "55"],
  ["Long pier", "25"]
]

const FILES: Readonly<Record<string, string | Uint8Array>> = {
  "handbook.md": HANDBOOK("six"),
  "figures/fees.xlsx": xlsx([{ name: "Fees", rows: textRows(fees) }]),
  "contracts/towing.docx": docx(p(r("The towing contract with Ostrand ends in October."))),
  "meeting.pptx": pptx([
    { shapes: shape(["Winter"], "title") + shape(["The pumps are drained in November."]) }
  ]),
  "mail/offer.eml": mail(
    {
      From: "lee@example.com",
      To: "office@example.com",
      Subject: "Offer",
      Date: "Mon, 3 May 2027 10:00:00 +0000"
    },
    { text: "The new pump costs nine hundred crowns." }
  ),
  "tides.csv": "place,metres\nHarlow,4\nOstrand,6\n"
}

const fixture = pageFixture(
  async (page) => {
    await page.goto(`${fixture.server.address}#documents`)
    await addFiles(page, {
      name: "own.md",
      mimeType: "text/markdown",
      buffer: Buffer.from("# Own\n\nA private note.")
    })
  },
  async () => {
    office = await mkdtemp(join(tmpdir(), "sluice-office-"))
    const avis = await scan([
      "AVIS AUX USAGERS",
      "Le pont tournant sera fermé au trafic le 14 mars.",
      "Les bateaux attendent au quai du nord."
    ])
    for (const [path, content] of Object.entries({ ...FILES, "avis.png": avis })) {
      await mkdir(join(office, path, ".."), { recursive: true })
      await writeFile(join(office, path), content)
    }
    return { SLUICE_SOURCE_FOLDERS: office }
  }
)

/** Calls the server with a key. */
const http = async (
  key: string,
  path: string,
  json?: unknown,
  method = json === undefined ? "GET" : "POST"
) => {
  const response = await fetch(`${fixture.server.address}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(json !== undefined && { body: JSON.stringify(json) })
  })
  return { status: response.status, body: (await response.json().catch(() => undefined)) as never }
}

const answerTo = async (key: string, question: string, collection: string): Promise<string> => {
  const { body, status } = await http(key, "qa", { question, collection })
  assert.strictEqual(status, 200, JSON.stringify(body))
  return (body as { answer: string }).answer
}

it("an office works with its folder, in a browser, over HTTP, and with an agent", async () => {
  // The owner makes a collection, follows the folder, and shares it.
  const owner = await fixture.open("#documents", {})
  await owner.getByRole("button", { name: "New collection" }).click()
  await owner.keyboard.type("office")
  await owner.keyboard.press("Enter")
  await owner.getByText("Add documents to start.").waitFor()
  await owner.getByRole("button", { name: "Add a source" }).click()
  await owner.keyboard.type(office)
  await owner.getByRole("button", { name: "Add", exact: true }).click()
  const row = owner.getByRole("region", { name: "Sources" }).getByRole("listitem").first()
  await row.getByText("up to date").waitFor()
  const documents = owner.locator(".documents > li")
  await documents.nth(6).waitFor()
  assert.strictEqual(await documents.count(), 7, await owner.locator(".documents").innerText())
  await owner.goto(`${fixture.server.address}#administration`)
  await owner.getByRole("button", { name: "New user" }).click()
  await owner.getByLabel("Name", { exact: true }).fill("Ann")
  await owner.getByRole("button", { name: "Invite by link" }).click()
  const link = await owner.locator(".secret code").innerText()
  fixture.expect(/40[134]/)
  const ann = await fixture.open("", { storageState: { cookies: [], origins: [] } })
  await ann.goto(link)
  await ann.getByLabel("Your question").waitFor()
  await owner.goto(`${fixture.server.address}#documents`)
  await owner.getByRole("button", { name: "Share", exact: true }).click()
  await owner.keyboard.type("Ann")
  await owner.getByRole("button", { name: "Share", exact: true }).last().click()
  await owner.getByRole("button", { name: "Shared with 1" }).waitFor()

  // Ann asks the spreadsheet and the scan on the page.
  await ann.goto(`${fixture.server.address}#documents`)
  await ann.reload()
  const shared = "office (shared by owner)"
  await ann.getByLabel("Collection", { exact: true }).selectOption({ label: shared })
  await ann.locator(".documents li", { hasText: "fees.xlsx" }).waitFor()
  assert.strictEqual(await ann.getByRole("button", { name: "Add a source" }).count(), 0)
  await ann.getByRole("link", { name: "Ask", exact: true }).click()
  await askFor(ann, "What is the total fee in fees.xlsx?")
  assert.include(await ann.locator(".answer").innerText(), "120")
  await askFor(ann, "Quand le pont tournant sera-t-il fermé au trafic ?")
  assert.include(await ann.locator(".answer").innerText(), "14 mars")

  // The same over HTTP, with a key of her own that may only read.
  const key = await ann.evaluate<string>(`fetch("/api/token/", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "agent", expired_time: -1, remain_quota: 1000000, subnet: "", documents: "read" })
  }).then((response) => response.json()).then(({ data }) => data.key)`)
  const listed = await http(key, "collections")
  const reference =
    (listed.body as { collections: ReadonlyArray<{ name: string }> }).collections
      .map(({ name }) => name)
      .find((name) => name.startsWith("office@")) ?? ""
  assert.include(await answerTo(key, "What does the new pump cost?", reference), "nine hundred crowns")
  assert.include(await answerTo(key, "When does the towing contract end?", reference), "October")
  assert.include(await answerTo(key, "When does the lock at Harlow open?", reference), "six")
  assert.strictEqual(
    (await http(key, "sources", { address: "https://example.com/", collection: reference })).status,
    403
  )
  assert.deepStrictEqual(((await http(key, "sources")).body as { sources: unknown }).sources, [])

  // One edit and one removal, which the watched folder tells. The watcher is ready some time after it began.
  const opening = async () => {
    await writeFile(join(office, "handbook.md"), HANDBOOK("seven"))
    return answerTo(key, "When does the lock at Harlow open?", reference)
  }
  while (!(await opening()).includes("seven")) await new Promise((resolve) => setTimeout(resolve, 300))
  await rm(join(office, "mail"), { recursive: true })
  await documents.filter({ hasText: "offer.eml" }).waitFor({ state: "detached" })
  assert.notInclude(await answerTo(key, "What does the new pump cost?", reference), "nine hundred")

  // An agent has what its key has.
  await Effect.runPromise(
    Effect.gen(function* () {
      const agent = yield* connect(httpTransport(fixture.server.address.replace(/\/$/, ""), key))
      const list = yield* callTool(agent, "list_documents", { collection: reference })
      assert.include(list.text, "handbook.md")
      assert.notInclude(list.text, "offer.eml")
      const asked = yield* callTool(agent, "ask", {
        question: "When does the lock at Harlow open?",
        collection: reference
      })
      assert.include(asked.text, "seven")
      const refused = yield* callTool(agent, "ask", {
        question: "What is in the note?",
        collection: "default@owner"
      })
      assert.isTrue(refused.isError)
    }).pipe(Effect.scoped)
  )

  // The owner ends it: the membership first, then the source with its documents.
  await owner.getByRole("list", { name: "Members" }).getByRole("button", { name: "Remove Ann" }).click()
  await owner.getByText("Ann has no access any more.").waitFor({ state: "attached" })
  assert.strictEqual((await http(key, "qa", { question: "When?", collection: reference })).status, 404)
  await row
    .getByRole("button", { name: /^Remove/ })
    .first()
    .click()
  await owner.getByRole("dialog").getByRole("button", { name: "Remove" }).click()
  await owner.getByText("Add documents to start.").waitFor()
})
