/** The page in a real browser, with the real server. `trials/page-views.test.ts` checks the accessibility of every view. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import type { BrowserContextOptions, Page } from "playwright-core"
import { assert, describe, it } from "vitest"
import {
  accessibilityViolations,
  ARROW_SCROLLS,
  FAINT_TEXTS,
  FOCUS_SHOWS,
  FOCUSED,
  INK_IN_CITED,
  OVERFLOW,
  SIGN
} from "../web/pageScripts.ts"
import { accountTests } from "../web/account.ts"
import { collectionTests } from "../web/collections.ts"
import { connectTests } from "../web/connect.ts"
import { HARBOUR, LOG, LOG_LINES, QUESTION, QUOTE } from "../web/harbour.ts"
import { playgroundTests } from "../web/playground.ts"
import { sourceTests } from "../web/source.ts"
import { failureTests } from "../web/failures.ts"
import { addFiles, askFor, DESKTOP, PHONE, pageFixture } from "../web/pageFixture.ts"

const fixture = pageFixture(async (page) => {
  await page.goto(`${fixture.server.address}#documents`)
  await addFiles(page, HARBOUR)
})
const { open } = fixture

const openAnswered = async (options?: BrowserContextOptions): Promise<Page> => {
  const page = await open(`#${new URLSearchParams({ q: QUESTION }).toString()}`, options)
  await page.locator(".result[data-state=answered]").waitFor()
  return page
}

accountTests(fixture)
collectionTests(fixture)
playgroundTests(fixture)
sourceTests(fixture)
failureTests(fixture)
connectTests(fixture)

describe("the page", () => {
  it("answers with citations that open the source at the quote", async () => {
    const page = await open("")
    await askFor(page, QUESTION)
    await page.locator(".answer .citation").first().click()
    const source = page.locator("aside.source")
    await source.locator("mark").first().waitFor()
    assert.strictEqual((await source.locator("mark").allTextContents()).join(""), QUOTE)
    const mark = await source.locator("mark").first().boundingBox()
    assert.isTrue(mark !== null && mark.y > 0 && mark.y < DESKTOP.height, "the quote is in view")
    assert.match(await source.getByRole("heading", { level: 2 }).innerText(), /The harbour/)
    assert.include(page.url(), "#q=")
    await page.emulateMedia({ media: "print" })
    assert.isTrue(await page.locator(".answer").isVisible())
    for (const pressed of [".source", ".header", ".question-box"])
      assert.isTrue(await page.locator(pressed).isHidden(), pressed)
    await page.emulateMedia({ media: null })
  })

  it("reports that there is no answer", async () => {
    const page = await open("")
    await askFor(page, "zxqv wvutz qqqx?")
    await page.locator(".no-answer").waitFor()
    await askFor(page, "?")
    await page.locator(".no-answer", { hasText: "No passage matches." }).waitFor()
    assert.strictEqual(await page.locator(".citation").count(), 0)
  })

  it("draws twenty recalled and three kept passages, as a chart and as a table", async () => {
    const page = await openAnswered()
    assert.strictEqual(await page.locator(".trace-recalled li").count(), 20)
    assert.strictEqual(await page.locator(".trace-recalled li[data-kept=true]").count(), 3)
    assert.strictEqual(await page.locator(".trace-gate .opening").count(), 3)
    assert.strictEqual(await page.locator(".trace-gate .plank").count(), 17)
    assert.strictEqual(await page.locator(".trace-lines path").count(), 20)
    assert.isAtLeast(await page.locator(".stages li").count(), 4)
    assert.match(await page.locator(".stages .cost").innerText(), /^\$0\.\d+ demo credit$/)
    await page.locator(".trace-reranked button").first().hover()
    const detail = await page.locator(".trace-detail").innerText()
    for (const text of ["kept", "vector 1 (", "keyword 1 (", "fused 1 ("]) assert.include(detail, text)
    await page.getByRole("button", { name: "Show as a table" }).click()
    assert.strictEqual(await page.locator(".trace-table tbody tr").count(), 20)
  })

  it("adds files, reports those that cannot be read, removes and restores", async () => {
    const page = await open("#documents")
    const papyrus =
      "# Papyrus\n\nThe oldest papyrus of the archive was found in a jar below the lighthouse.\n"
    await addFiles(page, [
      { name: "papyrus.md", mimeType: "text/markdown", buffer: Buffer.from(papyrus) },
      { name: 'the "jar".md', mimeType: "text/markdown", buffer: Buffer.from("# Jar\n\nIt is of clay.\n") },
      { name: "copied.md", mimeType: "text/markdown", buffer: Buffer.from(papyrus) },
      { name: "broken.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.7\nno more") },
      {
        name: "cut.md",
        mimeType: "text/markdown",
        buffer: Buffer.from(
          "# Cut\n\nA map.\n\n![Figure 1: The map](data:image/png;base64,iVBORw0KGgoAAAA=)\n"
        )
      }
    ])
    await page.locator(".uploads [data-state=added]", { hasText: "the 'jar'.md" }).waitFor()
    const failed = page.locator(".uploads [data-state=failed]")
    assert.include(await failed.innerText(), "broken.pdf")
    assert.isAbove((await failed.locator("p").innerText()).length, 20)
    const row = page.locator(".documents li", { hasText: "papyrus.md" })
    await row.waitFor()
    const faults = page.locator(".documents li", { hasText: "cut.md" }).locator(".faults")
    assert.match(await faults.locator("summary").innerText(), /^1 part could not be read$/)
    await faults.locator("summary").click()
    assert.match(await faults.locator("li").innerText(), /picture 1 is cut off or damaged/)
    await page.locator(".brand").click()
    await askFor(page, "Where was the oldest papyrus found?")
    assert.include(await page.locator(".answer").innerText(), "in a jar below the lighthouse")
    await page.locator(".answer .citation").first().click()
    const path = page.locator("aside.source .path")
    const [cited, also] = [await path.innerText(), page.locator("aside.source .copies .link")]
    const copy = await also.innerText()
    assert.sameMembers([cited, copy], ["papyrus.md", "copied.md"])
    await also.click()
    await page.locator("aside.source .path", { hasText: copy }).waitFor()
    assert.strictEqual(await also.innerText(), cited)

    await page.getByRole("link", { name: "Documents", exact: true }).click()
    // A second press during the removal does nothing.
    await row.getByRole("button", { name: "Remove Papyrus" }).evaluate((button) => {
      for (const _ of "12") (button as unknown as { readonly click: () => void }).click()
    })
    await row.waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Undo" }).click()
    await row.waitFor()
  })

  it("fits the longest file name on a desktop and on a phone", async () => {
    for (const viewport of [DESKTOP, PHONE]) {
      const page = await open("#documents", { viewport })
      const name = `${"w".repeat(200)}${viewport.width}.md`
      await addFiles(page, { name, mimeType: "text/markdown", buffer: Buffer.from("A buoy lies here.") })
      const sent = page.locator(".uploads [data-state=added]")
      const row = page.locator(".documents li", { hasText: name })
      await row.locator(".title").click()
      for (const [inner, outer] of [
        [sent.locator(".upload-state"), page.locator(".uploads")],
        [row.locator(".title"), row.locator(".open")],
        [row.locator(".icon"), row],
        [page.locator(".source [aria-label='Close the source']"), page.locator(".source")],
        [page.locator(".source .path"), page.locator(".source")]
      ] as const) {
        const [own, place] = [await inner.boundingBox(), await outer.boundingBox()]
        assert.isAtMost((own?.x ?? NaN) + (own?.width ?? NaN), (place?.x ?? NaN) + (place?.width ?? NaN) + 1)
      }
      assert.isAtMost(Number(await page.evaluate(OVERFLOW)), 0)
    }
  })

  it("adds a folder and dropped files", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-folder-"))
    try {
      await mkdir(join(folder, "deep"))
      await writeFile(join(folder, "deep", "buoys.md"), "# Buoys\n\nNine buoys mark the channel.\n")
      await writeFile(join(folder, ".hidden.md"), "# Hidden\n\nNobody meant this one.\n")
      for (const n of [10, 9])
        await writeFile(join(folder, "deep", `lock ${n}.md`), `# Lock ${n}\n\nIt is open.\n`)
      const page = await open("#documents")
      await page.locator("input[type=file]").nth(1).setInputFiles(folder)
      await page.locator(".documents li", { hasText: `${basename(folder)}/deep/buoys.md` }).waitFor()
      assert.strictEqual(await page.locator(".documents li", { hasText: "hidden" }).count(), 0)
      await page.locator(".documents li", { hasText: "lock 10.md" }).waitFor()
      assert.deepStrictEqual(
        (await page.locator(".documents li").allInnerTexts()).flatMap(
          (text) => text.match(/lock \d+\.md/) ?? []
        ),
        ["lock 9.md", "lock 10.md"]
      )

      await page.goto(`${fixture.server.address}#ask`)
      const drop = (type: string) => `{
        const data = new DataTransfer()
        data.items.add(new File(["# Dropped\\n\\nA drop in the lock."], "dropped.md"))
        window.dispatchEvent(new DragEvent("${type}", { dataTransfer: data, bubbles: true, cancelable: true }))
      }`
      await page.evaluate(drop("dragenter"))
      await page.locator(".drop").waitFor()
      await page.evaluate(drop("drop"))
      await page.locator(".documents li", { hasText: "dropped.md" }).waitFor()
      assert.strictEqual(await page.locator(".drop").count(), 0)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it("shows the page of a PDF with the cited line marked", async () => {
    const page = await open("#documents")
    await addFiles(page, LOG)
    await page.locator(".brand").click()
    await askFor(page, "For how many nights will the oil last?")
    await page.locator(".evidence button", { hasText: "p. 1" }).first().click()
    await page.locator(".page-image .cited").first().waitFor()
    await page.locator(".page-image[data-drawn=true]").waitFor()
    assert.deepStrictEqual(await page.locator(".page-image text").allTextContents(), LOG_LINES)
    const sheet = await page.locator(".page-image").boundingBox()
    assert.closeTo((sheet?.height ?? 0) / (sheet?.width ?? 1), 595 / 420, 0.01)
    const cited = await page.locator(".page-image .cited").first().boundingBox()
    const line = await page.locator(".page-image text", { hasText: "eleven nights" }).boundingBox()
    assert.closeTo(cited?.y ?? 0, line?.y ?? 100, 8)
    // The image lies under the boxes: a marked line is darker than marked paper.
    assert.isAbove(await page.evaluate<number>(INK_IN_CITED), 0.02)
    await page.keyboard.press("+")
    await page.locator(".page-steps", { hasText: "150 %" }).waitFor()
    const larger = await page.locator(".page-image").boundingBox()
    assert.closeTo((larger?.width ?? 0) / (sheet?.width ?? 1), 1.5, 0.01)
    assert.strictEqual(await page.evaluate<number>(OVERFLOW), 0)
    await page.locator(".page-view").focus()
    assert.isTrue(await page.evaluate<boolean>(ARROW_SCROLLS))
    await page.keyboard.press("-")

    await page.getByRole("button", { name: "Text", exact: true }).click()
    await page.locator("mark").first().waitFor()
    assert.include((await page.locator("mark").allTextContents()).join(""), "eleven nights")
  })

  it("reads an image, cites it with its crop, and marks it on its page", async () => {
    const page = await open("#documents")
    const drawn = await page.evaluate<string>(SIGN)
    const buffer = Buffer.from(drawn.slice(drawn.indexOf(",") + 1), "base64")
    await addFiles(page, { name: "sign.png", mimeType: "image/png", buffer })
    const row = page.locator(".documents li", { hasText: "sign.png" })
    assert.match(await row.innerText(), /Image\s+1 page\s+1 figure or table/)

    await page.locator(".brand").click()
    await page.locator(".filter-panel summary").click()
    await page.getByLabel("Figures", { exact: true }).check()
    await page.locator(".filter-documents label", { hasText: "sign.png" }).click()
    assert.match(await page.locator(".filter-panel summary").innerText(), /sign · Figures/i)
    await askFor(page, "What does the ferry to Marsh Island cost?")
    assert.match(await page.locator(".filter-text").innerText(), /Figures/)
    assert.include(await page.locator(".answer").innerText(), "seven crowns")
    await page.locator(".evidence .crop[data-state=shown]").waitFor()
    const crop = page.locator(".evidence .crop img")
    assert.isAbove(await crop.evaluate((img) => (img as unknown as { naturalWidth: number }).naturalWidth), 0)
    const ids = await page.locator(".trace-recalled button").count()
    assert.strictEqual(ids, 1, "only the figure was searched")

    await page.locator(".answer .citation").first().click()
    await page.locator(".evidence .crop[data-state=shown]").waitFor()
    await page.locator(".page-image[data-drawn=true]").waitFor()
    await page.locator(".page-image .cited").first().waitFor()
    const before = await page.locator(".steps b").first().innerText()
    await page.keyboard.press("j")
    await page.keyboard.press("k")
    assert.strictEqual(await page.locator(".steps b").first().innerText(), before)
    await page.keyboard.press("Escape")
    await page.locator(".filter-panel summary").click()
    await page.getByLabel("Figures", { exact: true }).uncheck()
    await page.getByLabel("Tables", { exact: true }).check()
    await askFor(page, "What does the ferry to Marsh Island cost in winter?")
    assert.match(await page.locator(".no-answer").innerText(), /Nothing matches your filter: .* Tables/i)
    await page.locator(".filter-panel summary").click()
    await page.getByRole("button", { name: "Clear the filter" }).click()
    assert.match(await page.locator(".filter-panel summary").innerText(), /All documents$/)
  })

  it("works by keyboard with a visible focus", async () => {
    const page = await open("#documents")
    await page.locator(".documents").waitFor()
    await page.keyboard.press("Tab")
    assert.strictEqual(await page.evaluate<string>(FOCUSED), "Skip to content")
    await page.keyboard.press("/")
    await page.locator("#question:focus").waitFor()
    await page.keyboard.type(QUESTION)
    assert.isTrue(await page.evaluate<boolean>(FOCUS_SHOWS))
    await page.keyboard.press("Enter")
    await page.locator(".result[data-state=answered]").waitFor()
    const tabTo = async (what: RegExp) => {
      for (let presses = 0; presses < 30; presses++) {
        await page.keyboard.press("Tab")
        assert.isTrue(await page.evaluate<boolean>(FOCUS_SHOWS), await page.evaluate<string>(FOCUSED))
        if (what.test(await page.evaluate<string>(FOCUSED))) return
      }
      assert.fail(`The Tab key does not reach ${what}.`)
    }
    await tabTo(/^Citation 1/)
    await page.keyboard.press("Enter")
    await page.locator("aside.source mark").first().waitFor()
    await page.keyboard.press("Escape")
    await page.locator("aside.source").waitFor({ state: "detached" })
    assert.match(await page.evaluate<string>(FOCUSED), /^Citation 1/)
    await page.keyboard.press("j")
    await page.locator("aside.source .steps", { hasText: "1 of" }).waitFor()
    await page.keyboard.press("Escape")
    await tabTo(/Before reranking \d+, (vector|keywords)/)
    await page.keyboard.press("Home")
    const [first] = /Before reranking \d+/.exec(await page.evaluate<string>(FOCUSED)) ?? []
    await page.keyboard.press("ArrowDown")
    assert.match(await page.evaluate<string>(FOCUSED), /Before reranking \d+, (vector|keywords)/)
    assert.notInclude(await page.evaluate<string>(FOCUSED), `${first},`)
    await page.locator(".trace-detail").waitFor()
  })

  for (const colorScheme of ["light", "dark"] as const) {
    it(`has no accessibility violation in ${colorScheme}`, async () => {
      const page = await openAnswered({ colorScheme })
      await page.locator(".citation").first().click()
      await page.locator("mark").first().waitFor()
      await page.locator(".filter-panel summary").click()
      assert.deepStrictEqual(await page.evaluate<Array<string>>(FAINT_TEXTS), [])
      assert.deepStrictEqual(await accessibilityViolations(page), [])
    })
  }

  it("prefers the chosen theme to that of the system", async () => {
    const page = await open("", { colorScheme: "light" })
    const ground = "getComputedStyle(document.documentElement).backgroundColor"
    const light = await page.evaluate<string>(ground)
    const toggle = page.getByRole("button", { name: /^Theme:/ })
    await toggle.click()
    await toggle.click()
    const dark = await page.evaluate<string>(ground)
    assert.notStrictEqual(dark, light)
    await page.reload()
    await toggle.waitFor()
    assert.strictEqual(await page.evaluate<string>(ground), dark)
  })

  it("fits a phone", async () => {
    const page = await openAnswered({ viewport: PHONE, isMobile: true, hasTouch: true })
    await page.locator(".filter-panel summary").tap()
    await page.locator(".filter-panel-body").waitFor()
    assert.strictEqual(await page.evaluate<number>(OVERFLOW), 0)
    await page.locator(".filter-panel summary").tap()
    const row = page.locator(".trace-recalled button").nth(1)
    await row.tap()
    await page.locator(".trace-detail").waitFor()
    await page.locator(".citation").first().tap()
    await page.locator("mark").first().waitFor()
    const panel = await page.locator("aside.source").boundingBox()
    assert.strictEqual(panel?.width, PHONE.width)
    assert.strictEqual(await page.evaluate<number>(OVERFLOW), 0)
    assert.deepStrictEqual(await accessibilityViolations(page), [])
    await page.getByRole("button", { name: "Close the source" }).tap()
    for (const width of [375, 320]) {
      await page.setViewportSize({ ...PHONE, width })
      const { height = 0 } = (await page.locator(".header").boundingBox()) ?? {}
      assert.isBelow(height, 120, `${width}: one row for the name, one for the views`)
    }
    const last = await page.locator(".header nav a").last().boundingBox()
    assert.isAtMost((last?.x ?? NaN) + (last?.width ?? NaN), 320)
  })

  it("signs in with a valid key only", async () => {
    fixture.expect(/401/)
    const page = await open(`#login=${fixture.server.login}`, { storageState: { cookies: [], origins: [] } })
    await page.getByLabel("API key").fill("sk-wrong")
    await page.keyboard.press("Enter")
    await page.locator("#key-problem", { hasText: /unknown API key/i }).waitFor()
    await page.getByLabel("API key").fill(fixture.server.apiKey)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByLabel("Your question").waitFor()
  })

  it("reports that the server is offline and how to start it", async () => {
    const page = await open("")
    await page.getByLabel("Your question").waitFor()
    // Refused, or cut off during the first requests of the page.
    fixture.expect(/ERR_CONNECTION|ERR_EMPTY_RESPONSE/)
    await fixture.server.stop()
    await page.getByLabel("Your question").fill(QUESTION)
    await page.keyboard.press("Enter")
    await page.getByRole("alert").filter({ hasText: "npm start" }).first().waitFor()
  })
})
