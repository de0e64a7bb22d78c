/** The playground, with the server's own models. */
import { join } from "node:path"
import type { Page } from "playwright-core"
import { assert, describe, it } from "vitest"
import { FOCUS_SHOWS, FOCUSED } from "./pageScripts.ts"
import type { PageFixture } from "./pageFixture.ts"

const PICTURE = join(import.meta.dirname, "../../apps/demo-server/src/web/mark.svg")

/** Milliseconds, on a busy machine. */
const LIMIT = 60_000

/** Sends the form when no call is in progress. */
const send = (page: Page): Promise<void> => page.locator(".send .primary:not([aria-disabled=true])").click()

const codeOf = (page: Page): Promise<string> => page.locator(".code-panel pre").innerText()

/** An image with a few words, drawn by the browser. */
const picture = async (page: Page): Promise<Buffer> => {
  const base64 = await page.evaluate<string>(`(() => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 640, height: 160 })
    const context = canvas.getContext("2d")
    context.fillStyle = "white"
    context.fillRect(0, 0, 640, 160)
    context.fillStyle = "black"
    context.font = "48px sans-serif"
    context.fillText("The lock is closed", 60, 100)
    return canvas.toDataURL("image/png").split(",")[1]
  })()`)
  return Buffer.from(base64, "base64")
}

/** Chat calls get half of an answer. A Playwright route that is set during loading may miss the call. */
const HALF_ANSWERED = `{
  const originalFetch = fetch
  const half = 'data: {"choices":[{"index":0,"delta":{"content":"Half of"}}]}\\n\\n'
  fetch = async (path, options) => path === "/v1/chat/completions" ? new Response(half) : originalFetch(path, options)
}`

/** Waits for the next announcement to screen readers. */
const NEXT_ANNOUNCEMENT = `new Promise((resolve) =>
  new MutationObserver(() => resolve()).observe(document.querySelector("#app > [aria-live]"), {
    characterData: true,
    childList: true,
    subtree: true
  }))`

/** Each tab, and an element that is there when it is complete. */
export const PLAYGROUND_VIEWS = Object.fromEntries(
  ["embed", "rerank", "chat", "image", "video", "look"].map((name) => [
    `#playground/${name}`,
    `.playground:has([href="#playground/${name}"][aria-current]):has(option:has-text("sluice-"))`
  ])
)

export const playgroundTests = (fixture: PageFixture): void => {
  describe("the playground", () => {
    it("compares two texts and updates the code with the form", async () => {
      const page = await fixture.open("#playground/embed")
      await page.getByLabel("First text").fill("An open gate")
      await page.getByLabel("Second text").fill("An open gate")
      assert.include(await codeOf(page), '"An open gate"')
      assert.include(await codeOf(page), "$SLUICE_API_KEY")
      await page.locator(".send .primary").dblclick()
      await page.locator(".compared .amount", { hasText: "1.000" }).waitFor()
      assert.strictEqual(await page.evaluate<string>(FOCUSED), "Compare")
      await page.locator("#app > [aria-live]", { hasText: "The texts were compared." }).waitFor()
      const announced = page.evaluate(NEXT_ANNOUNCEMENT)
      await page.keyboard.press("Enter")
      await announced
      assert.strictEqual((await page.locator(".strip svg rect").count()) > 0, true)
      await page.getByLabel("Effect").check()
      assert.include(await codeOf(page), "gateway.embeddings")
    })

    it("orders documents by relevance", async () => {
      const page = await fixture.open("#playground/rerank")
      await page.getByLabel("Question").fill("Who sells moorings?")
      await page.getByLabel("Documents").fill("Nobody here.\n\nThe office sells moorings.")
      await send(page)
      await page.locator(".ranked li").nth(1).waitFor()
      const [first = "", second = ""] = await page.locator(".ranked li").allInnerTexts()
      assert.include(first, "The office sells moorings.")
      assert.include(second, "was 1")
    })

    it("continues a chat with all its turns", async () => {
      const page = await fixture.open("#playground/chat")
      await page.getByLabel("Instructions").fill("The harbour has nine buoys. Its gate is green.")
      await page.getByLabel("Message").fill("How many buoys has the harbour?")
      await page.locator(".send .primary:enabled").waitFor()
      await page.keyboard.press("Enter")
      const answers = page.locator(".turn[data-role=assistant]")
      await answers.filter({ hasText: "nine buoys" }).waitFor()
      await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" })
      await page.getByLabel("Message").fill("What colour is its gate?")
      await page.keyboard.press("Enter")
      await answers.filter({ hasText: "green" }).waitFor()
      assert.strictEqual(await page.locator(".turn").count(), 4)
      assert.include(await codeOf(page), "What colour is its gate?")
      await page.getByRole("button", { name: "New conversation" }).press("Enter")
      await page.getByLabel("Message").and(page.locator(":focus")).waitFor()
    })

    it("reports a broken answer and keeps the message", async () => {
      const page = await fixture.open("#playground/chat")
      await page.getByLabel("Message").fill("How many buoys has the harbour?")
      await page.locator(".send .primary:enabled").waitFor()
      await page.evaluate(HALF_ANSWERED)
      await page.keyboard.press("Enter")
      await page.getByRole("alert").filter({ hasText: "broke before the answer was complete" }).waitFor()
      assert.strictEqual(await page.getByLabel("Message").inputValue(), "How many buoys has the harbour?")
    })

    it("generates images directly and as a task", async () => {
      const page = await fixture.open("#playground/image?model=sluice-image-i5-task")
      // A poll without a response is repeated.
      fixture.expect(/ERR_FAILED/)
      await page.route("**/v1/images/generations/*", (route) => route.abort(), { times: 1 })
      for (const model of ["sluice-image-i5-task", "sluice-image-i1"]) {
        await page.getByLabel("Model", { exact: true }).selectOption(model)
        await page.getByLabel("Size").selectOption("256x256")
        await send(page)
        await page.locator(".gallery img").waitFor()
        const drawn = `document.querySelector(".gallery img").decode().then(() => document.querySelector(".gallery img").naturalWidth)`
        assert.strictEqual(await page.evaluate<number>(drawn), 256)
        assert.include(await codeOf(page), model)
        await page.getByLabel("Size").selectOption("512x512")
      }
      // A reference image is not sent to a model that takes none.
      const start = { name: "sign.png", mimeType: "image/png", buffer: await picture(page) }
      await page.locator("input[type=file]").setInputFiles(start)
      await page.locator(".picture img").waitFor()
      await page.getByLabel("Model", { exact: true }).selectOption("sluice-image-i2")
      await page.locator(".picture").waitFor({ state: "detached" })
      const answered = page.waitForResponse("**/v1/images/generations")
      // By the keyboard: the button has just moved.
      await page.getByLabel("Prompt").press("Enter")
      assert.strictEqual((await answered).status(), 200)
    })

    it(
      "generates a video, shows its progress, plays it, and restores it from its address",
      async () => {
        const page = await fixture.open("#playground/video")
        await page.getByLabel("Model", { exact: true }).selectOption("sluice-video-from-image")
        await page.getByText("This model needs a first image.").waitFor()
        const first = { name: "sign.png", mimeType: "image/png", buffer: await picture(page) }
        await page.locator("input[type=file]").setInputFiles(first)
        await page.getByLabel("Length").selectOption("2")
        await page.getByLabel("Size").selectOption("240P")
        await send(page)
        await page.locator(".video-result .status", { hasText: /in progress/i }).waitFor()
        const film = page.locator(".video-result video")
        await film.waitFor({ timeout: LIMIT })
        const played = await page.evaluate<{ seconds: number; height: number }>(`(async () => {
        const video = document.querySelector(".video-result video")
        video.muted = true
        await video.play()
        await new Promise((resolve) => video.addEventListener("timeupdate", () => video.currentTime > 0 && resolve()))
        return { seconds: video.duration, height: video.videoHeight }
      })()`)
        assert.closeTo(played.seconds, 2, 0.2)
        assert.strictEqual(played.height, 240)
        assert.match(page.url(), /#playground\/video\?task=video_/)
        await page.reload()
        await film.waitFor()
        await page.getByLabel("Size").focus()
        await page.getByRole("button", { name: "Delete", exact: true }).press("Enter")
        await film.waitFor({ state: "detached" })
        assert.isTrue(await page.getByLabel("Size").evaluate((field) => field.matches(":focus")))
        assert.match(page.url(), /#playground\/video$/)
      },
      LIMIT
    )

    it("reports why a video failed", async () => {
      const page = await fixture.open("#playground/video?model=sluice-video-failing")
      await send(page)
      await page.getByRole("alert").filter({ hasText: "always fails" }).waitFor()
    })

    it("answers a question about an image and refuses other files", async () => {
      const page = await fixture.open("#playground/look")
      assert.isTrue(await page.locator(".send .primary").isDisabled())
      await page.locator("input[type=file]").setInputFiles(PICTURE)
      await page.getByRole("alert").filter({ hasText: "mark.svg is not a PNG, JPEG or WebP image" }).waitFor()
      const none = { name: "none.png", mimeType: "image/png", buffer: Buffer.from("no picture") }
      await page.locator("input[type=file]").setInputFiles(none)
      await page.getByRole("alert").filter({ hasText: "none.png is not a PNG, JPEG or WebP image" }).waitFor()
      const sign = { name: "sign.png", mimeType: "image/png", buffer: await picture(page) }
      await page.locator("input[type=file]").setInputFiles(sign)
      await page.locator(".picture img").waitFor()
      await page.locator("input[type=file]").focus()
      await page.getByRole("button", { name: "Remove sign.png" }).press("Enter")
      await page.locator("input[type=file]:focus").waitFor()
      await page.locator("input[type=file]").setInputFiles(sign)
      await page.locator(".picture img").waitFor()
      await page.getByLabel("Question").fill("Is the lock closed?")
      await send(page)
      await page.locator(".vision-answer", { hasText: "lock is closed" }).waitFor()
      assert.include(await codeOf(page), "base64 < 'sign.png'")
    })

    it("reports why a call was refused", async () => {
      const page = await fixture.open("#playground/look?model=sluice-extractive")
      fixture.expect(/400/)
      const sign = { name: "sign.png", mimeType: "image/png", buffer: await picture(page) }
      await page.locator("input[type=file]").setInputFiles(sign)
      await send(page)
      await page.getByRole("alert").filter({ hasText: "Use sluice-ocr" }).waitFor()
    })

    it("links each model to its tab of the playground", async () => {
      const page = await fixture.open("#models")
      await page.getByPlaceholder("Find by name").fill("watermark I3")
      const row = page.locator(".model-list li")
      await page.getByText("1 model", { exact: true }).waitFor()
      assert.include(await row.innerText(), "no understanding")
      await row.getByRole("link", { name: "Try sluice-image-i3" }).click()
      await page.getByLabel("Model", { exact: true }).waitFor()
      assert.strictEqual(await page.getByLabel("Model", { exact: true }).inputValue(), "sluice-image-i3")
    })

    it("works by keyboard with a visible focus", async () => {
      const page = await fixture.open("#playground/look")
      await page.getByLabel("Model", { exact: true }).waitFor()
      const passed: Array<string> = []
      for (let presses = 0; presses < 40; presses++) {
        await page.keyboard.press("Tab")
        const focused = await page.evaluate<string>(FOCUSED)
        for (const forcedColors of ["active", "none"] as const) {
          await page.emulateMedia({ forcedColors })
          assert.isTrue(await page.evaluate<boolean>(FOCUS_SHOWS), `${focused}, ${forcedColors}`)
        }
        passed.push(focused)
        if (focused.startsWith("Copy")) break
      }
      assert.include(passed.at(-1) ?? "", "Copy the call")
    })
  })
}
