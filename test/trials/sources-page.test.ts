/** Sources, uploads and jobs on the page, with the real server. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { afterAll, assert, describe, it } from "vitest"
import { addFiles, PHONE, pageFixture } from "../web/pageFixture.ts"
import { type PdfPage, writePdf } from "../rag/PdfWriter.ts"
import { accessibilityViolations, OVERFLOW } from "../web/pageScripts.ts"

const folders: Array<string> = []
const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-followed-"))
  folders.push(folder)
  return folder
}
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

let followed = ""

const fixture = pageFixture(
  async (page) => {
    await page.goto(`${fixture.server.address}#documents`)
    await addFiles(page, {
      name: "own.md",
      mimeType: "text/markdown",
      buffer: Buffer.from("# Own\n\nA text of one's own.")
    })
  },
  async () => {
    followed = await newFolder()
    await mkdir(join(followed, "sub"))
    await writeFile(join(followed, "lock.md"), "# Lock\n\nThe lock at Harlow opens at six.")
    await writeFile(join(followed, "sub", "ferry.md"), "# Ferry\n\nThe ferry leaves at noon.")
    await writeFile(join(followed, "broken.pdf"), "no PDF")
    return { SLUICE_SOURCE_FOLDERS: followed }
  }
)

/** Adds a source: two clicks, and an address between them. */
const addSource = async (page: Page, address: string) => {
  await page.getByRole("button", { name: "Add a source" }).click()
  // The field has the focus.
  await page.keyboard.type(address)
  await page.getByRole("button", { name: "Add", exact: true }).click()
}

const sourceRow = (page: Page, name: string) =>
  page.getByRole("region", { name: "Sources" }).getByRole("listitem").filter({ hasText: name }).first()

describe("sources on the page", () => {
  it("a web site is added in at most three clicks, and says why it cannot be read", async () => {
    const page = await fixture.open("#documents")
    await addSource(page, `${fixture.server.address}docs/`)
    const row = sourceRow(page, "127.0.0.1")
    await row.getByText("failed", { exact: true }).waitFor()
    await row.getByText("not publicly reachable").waitFor()
    await row.getByText("Every day").waitFor()
    await row
      .getByRole("button", { name: /^Remove/ })
      .first()
      .click()
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click()
    await row.waitFor({ state: "detached" })
  })

  it("a folder shows its state, what changed and what failed; it is read now, paused, and removed with its documents", async () => {
    const page = await fixture.open("#documents")
    await addSource(page, followed)
    const name = followed.split("/").at(-1) ?? ""
    const row = sourceRow(page, name)
    await row.getByText("up to date").waitFor()
    await row.getByText("1 file failed").click()
    await row.getByText("broken.pdf").waitFor()
    const documents = page.locator(".documents li")
    await documents.filter({ hasText: `${name}/sub/ferry.md` }).waitFor()
    // Another schedule: by the week, and by cron.
    await row.getByRole("button", { name: /^Change the schedule/ }).click()
    await row.getByLabel("Update").selectOption("Every week")
    await row.getByLabel("Day").selectOption("Friday")
    await row.getByLabel("Time").fill("06:30")
    await page.setViewportSize(PHONE)
    assert.strictEqual(await page.evaluate<number>(OVERFLOW), 0)
    assert.deepStrictEqual(await accessibilityViolations(page), [])
    await page.setViewportSize({ width: 1440, height: 900 })
    await row.getByRole("button", { name: "Save" }).click()
    await row.getByText("Every Friday at 06:30").waitFor()
    await row.getByRole("button", { name: /^Change the schedule/ }).click()
    assert.strictEqual(await row.getByLabel("Day").inputValue(), "Friday")
    await row.getByLabel("Update").selectOption("By cron")
    await row.getByLabel("Cron").fill("30 6 * * 1-5")
    await row.getByRole("button", { name: "Save" }).click()
    await row.getByText("By cron: 30 6 * * 1-5").waitFor()
    await row.getByRole("button", { name: /^Pause/ }).click()
    await row.getByText("paused", { exact: true }).waitFor()
    await writeFile(join(followed, "lock.md"), "# Lock\n\nThe lock at Harlow opens at seven.")
    await rm(join(followed, "sub"), { recursive: true })
    await row.getByRole("button", { name: /^Sync/ }).click()
    // The first read also had two changes. Theirs are shown until this one ends.
    const replaced = row.getByText(`replaced ${name}/lock.md`)
    await replaced.waitFor({ state: "attached" })
    await row.getByText("2 changes").click()
    await replaced.waitFor()
    await row.getByText(`removed ${name}/sub/ferry.md`).waitFor()
    await documents.filter({ hasText: "ferry.md" }).waitFor({ state: "detached" })
    await page.setViewportSize(PHONE)
    assert.strictEqual(await page.evaluate<number>(OVERFLOW), 0)
    assert.deepStrictEqual(await accessibilityViolations(page), [])
    await page.setViewportSize({ width: 1440, height: 900 })
    await row.getByRole("button", { name: /^Resume/ }).click()
    await row.getByText("up to date").waitFor()
    await row
      .getByRole("button", { name: /^Remove/ })
      .first()
      .click()
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click()
    await row.waitFor({ state: "detached" })
    await documents.filter({ hasText: name }).first().waitFor({ state: "detached" })
    assert.strictEqual(await documents.count(), 1)
  })
})

describe("uploads", () => {
  it("several files are sent at a time, one is cancelled, and the others are read", async () => {
    const page = await fixture.open("#documents", {})
    const held = Promise.withResolvers<void>()
    let requests = 0
    await page.route(
      ({ pathname }) => pathname === "/documents",
      async (route) => {
        if (route.request().method() !== "POST") return route.continue()
        requests++
        await held.promise
        await route.continue().catch(() => undefined)
      }
    )
    const files = Array.from({ length: 6 }, (_, n) => ({
      name: `quay${n}.md`,
      mimeType: "text/markdown",
      buffer: Buffer.from(`# Quay ${n}\n\nThe toll of quay ${n} is ${n + 3} crowns.`)
    }))
    await page.locator("input[type=file]").first().setInputFiles(files)
    const uploads = page.getByRole("region", { name: "Uploads" })
    await uploads.getByRole("button", { name: "Cancel quay4.md" }).click()
    await uploads.locator("[data-state=cancelled]", { hasText: "quay4.md" }).waitFor()
    assert.isAtLeast(requests, 3)
    held.resolve()
    await uploads.getByText("5 files read, 1 file cancelled").waitFor()
    await page.locator(".documents li", { hasText: "quay5.md" }).waitFor()
    assert.strictEqual(await page.locator(".documents li", { hasText: "quay4.md" }).count(), 0)
  })

  const pdf = (name: string, pages: ReadonlyArray<PdfPage>) => ({
    name,
    mimeType: "application/pdf",
    buffer: Buffer.from(writePdf(pages))
  })
  const scan = (name: string, pages: number) =>
    pdf(
      name,
      Array.from({ length: pages }, (_, n) => ({
        marks: [],
        draw: `q 595 0 0 842 0 0 cm /I Do Q 0 g ${pages} 50 ${5 * n + 20} 99 re f`
      }))
    )

  it("scans go on as jobs, which tell their pages, are cancelled one by one, and hold up no other files", async () => {
    const page = await fixture.open("#documents", {})
    const input = page.locator("input[type=file]").first()
    await input.setInputFiles([scan("a.pdf", 89), scan("b.pdf", 90), scan("c.pdf", 91)])
    const uploads = page.getByRole("region", { name: "Uploads" })
    const reading = uploads.locator("[data-state=reading]").filter({ hasText: ".pdf" })
    for (const pages of [89, 90, 91])
      await reading.filter({ hasText: new RegExp(`reading page \\d+ of ${pages}`) }).waitFor()
    await input.setInputFiles(
      Array.from({ length: 4 }, (_, n) => ({
        name: `berth${n}.md`,
        mimeType: "text/markdown",
        buffer: Buffer.from(`# Berth ${n}\n\nThe toll of berth ${n} is ${n + 3} crowns.`)
      }))
    )
    await uploads.locator("strong", { hasText: "4 files read" }).waitFor()
    assert.strictEqual(await reading.count(), 3)
    // They are in the list of uploads alone.
    assert.strictEqual(await page.getByRole("region", { name: "Jobs" }).count(), 0)
    for (const name of ["a.pdf", "b.pdf", "c.pdf"])
      await uploads.getByRole("button", { name: `Cancel ${name}` }).click()
    await uploads.getByText("4 files read, 3 files cancelled").waitFor()
  })

  it("a page that is left while a file is read asks nothing, and the next one shows the job to its end", async () => {
    const page = await fixture.open("#documents", {})
    let dialogs = 0
    page.on("dialog", (dialog) => {
      dialogs++
      void dialog.accept()
    })
    await page.locator("input[type=file]").first().setInputFiles(scan("book.pdf", 92))
    await page.waitForResponse((response) => new URL(response.url()).pathname.startsWith("/jobs/job_"))
    await page.reload()
    assert.strictEqual(dialogs, 0)
    const jobs = page.getByRole("region", { name: "Jobs" })
    const job = jobs.getByRole("listitem").filter({ hasText: /book\.pdf: page \d+ of 92/ })
    await job.getByRole("button", { name: "Cancel: Upload of 1 file to default" }).click()
    await job.waitFor({ state: "detached" })
    await jobs.locator("[data-state=cancelled]").first().waitFor()
  })
})

it("the samples are removed at once, and nothing else", async () => {
  const body = new FormData()
  body.append("metadata", '{"sample": true}')
  for (const name of ["gate.md", "mooring.md"])
    body.append("files", new Blob(["# A\n\nText."]), `samples/${name}`)
  const authorization = `Bearer ${fixture.server.apiKey}`
  await fetch(`${fixture.server.address}documents`, { method: "POST", body, headers: { authorization } })
  const page = await fixture.open("", {})
  const starters = page.getByRole("list", { name: "Questions to start with" })
  await starters.waitFor()
  await page.getByRole("link", { name: "Documents", exact: true }).click()
  await page.getByRole("button", { name: "Remove the 2 samples" }).click()
  await page.getByRole("button", { name: "Remove all", exact: true }).click()
  const rows = page.locator(".documents li")
  await rows.filter({ hasText: "samples/" }).first().waitFor({ state: "detached" })
  await rows.filter({ hasText: "own.md" }).waitFor()
  assert.strictEqual(await page.getByRole("button", { name: /samples?$/ }).count(), 0)
  await page.getByRole("link", { name: "Ask", exact: true }).click()
  await page.locator(".library-size").waitFor()
  assert.strictEqual(await starters.count(), 0)
})

const waiting = pageFixture(
  async (page) => {
    await page.goto(`${waiting.server.address}#documents`)
    await addFiles(page, {
      name: "own.md",
      mimeType: "text/markdown",
      buffer: Buffer.from("# Own\n\nA text.")
    })
  },
  async () => ({ SLUICE_JOBS: "0" })
)

describe("jobs", () => {
  it("an upload of a program in the background is shown, and cancelled", async () => {
    const body = new FormData()
    for (const name of ["a.md", "b.md"]) body.append("files", new Blob(["# A\n\nText."]), name)
    const authorization = `Bearer ${waiting.server.apiKey}`
    await fetch(`${waiting.server.address}documents`, {
      method: "POST",
      body,
      headers: { authorization, prefer: "respond-async" }
    })
    const page = await waiting.open("#documents", {})
    const jobs = page.getByRole("region", { name: "Jobs" })
    await jobs.getByText("Upload of 2 files to default").waitFor()
    await jobs.getByRole("button", { name: /^Cancel/ }).click()
    await jobs.getByText("cancelled").waitFor()
    await jobs.getByRole("button", { name: "Clear" }).click()
    await jobs.waitFor({ state: "detached" })
  })
})
