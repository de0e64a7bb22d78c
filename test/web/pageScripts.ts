/** Scripts that run in the page. They are text, because the tests are typed without a browser's globals. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"

/** CSS pixels by which the page is wider than the window. */
export const OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

/** Visible texts with a contrast below WCAG AA (4.5, or 3 for large text), with the contrast. */
export const FAINT_TEXTS = String.raw`(() => {
  const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true })
  const over = (color, [r, g, b]) => {
    context.fillStyle = "rgb(" + r + " " + g + " " + b + ")"
    context.fillRect(0, 0, 1, 1)
    context.fillStyle = color
    context.fillRect(0, 0, 1, 1)
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3)
  }
  const behind = (element) => {
    const above = element.parentElement === null ? [255, 255, 255] : behind(element.parentElement)
    return over(getComputedStyle(element).backgroundColor, above)
  }
  const luminance = (color) => {
    const [r, g, b] = color.map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const faint = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement
    const text = walker.currentNode.textContent.trim()
    if (text === "" || element.closest(".visually-hidden, .skip, :disabled, [inert]") || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue
    const style = getComputedStyle(element)
    const ground = behind(element)
    const [high, low] = [luminance(over(element.closest("svg") ? style.fill : style.color, ground)), luminance(ground)].sort((a, b) => b - a)
    const contrast = (high + 0.05) / (low + 0.05)
    const size = parseFloat(style.fontSize)
    if (contrast < (size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5)) faint.push(contrast.toFixed(2) + " " + text.slice(0, 40))
  }
  return faint
})()`

/** Whether the focus is visible: an outline of the element, or a ring around a parent. */
export const FOCUS_SHOWS = String.raw`(() => {
  for (let at = document.activeElement; at !== null && at !== document.body; at = at.parentElement) {
    const style = getComputedStyle(at)
    if ((style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2) || /0px 3px/.test(style.boxShadow)) return true
  }
  return false
})()`

/** The label of the focused element. */
export const FOCUSED =
  "document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent?.trim() ?? ''"

/** Whether the focused element scrolls sideways with the arrow keys. */
export const ARROW_SCROLLS = `document.activeElement.scrollWidth > document.activeElement.clientWidth &&
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }))`

/** An image of a sign, as a data URI. */
export const SIGN = String.raw`(() => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 1200, height: 420 })
  const context = canvas.getContext("2d")
  context.fillStyle = "white"
  context.fillRect(0, 0, 1200, 420)
  context.fillStyle = "black"
  context.font = "44px sans-serif"
  context.fillText("Marsh Island", 60, 110)
  context.fillText("The ferry to Marsh Island costs seven crowns.", 60, 210)
  context.fillText("It leaves at noon from the east pier.", 60, 310)
  return canvas.toDataURL("image/png")
})()`

/** The share of dark pixels in the first cited box of the page image, 0 to 1. */
export const INK_IN_CITED = String.raw`(async () => {
  const page = document.querySelector(".page-image")
  const cited = page.querySelector(".cited")
  const picture = new Image()
  picture.src = page.querySelector("image").getAttribute("href")
  await picture.decode()
  const scale = picture.naturalWidth / page.viewBox.baseVal.width
  const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(cited.getAttribute(name)) * scale)
  const canvas = Object.assign(document.createElement("canvas"), { width, height })
  const context = canvas.getContext("2d")
  context.drawImage(picture, -x, -y)
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height)
  let dark = 0
  for (let at = 0; at < data.length; at += 4) if (data[at] < 128) dark++
  return dark / (data.length / 4)
})()`

const AXE = readFileSync(join(import.meta.dirname, "../../node_modules/axe-core/axe.min.js"), "utf8")

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

/** The rows of the trace name their numbers: `Before reranking 1, vector 3`, not `1 3`. */
const NOT = { "label-content-name-mismatch": { enabled: false } }

const LOOK = `axe.run(document, ${JSON.stringify({ runOnly: TAGS, resultTypes: ["violations"], rules: NOT })})
  .then(({ violations }) => violations.map(({ help, id, nodes }) => id + ": " + help + ": " + nodes.map(({ target }) => target.join(" ")).join(", ")))`

/** Sizes are known one frame after drawing. */
const DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"

/** Violations that axe-core finds: WCAG 2.2 A and AA, and best practices. */
export const accessibilityViolations = async (page: Page): Promise<ReadonlyArray<string>> => {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(AXE)
  await page.evaluate(DRAWN)
  return page.evaluate<ReadonlyArray<string>>(LOOK)
}
