/** Scripts that run in the page; as text, since the tests are typed without a browser's globals. */

/** CSS pixels by which the page is wider than its window. */
export const OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

/** Visible texts whose contrast is below WCAG AA (4.5, or 3 for large text), with what it is. */
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
    if (text === "" || element.closest(".unseen, .skip, :disabled, [inert]") || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue
    const style = getComputedStyle(element)
    const ground = behind(element)
    const [high, low] = [luminance(over(element.closest("svg") ? style.fill : style.color, ground)), luminance(ground)].sort((a, b) => b - a)
    const contrast = (high + 0.05) / (low + 0.05)
    const size = parseFloat(style.fontSize)
    if (contrast < (size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5)) faint.push(contrast.toFixed(2) + " " + text.slice(0, 40))
  }
  return faint
})()`

/** Whether what has the focus shows it: an outline of its own, or a ring of what surrounds it. */
export const FOCUS_SHOWS = String.raw`(() => {
  for (let at = document.activeElement; at !== null && at !== document.body; at = at.parentElement) {
    const style = getComputedStyle(at)
    if ((style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2) || /0px 3px/.test(style.boxShadow)) return true
  }
  return false
})()`

/** What has the focus, in words. */
export const FOCUSED =
  "document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent?.trim() ?? ''"

/** Whether an arrow, where the focus is, is left to the browser, which scrolls what is wide. */
export const ARROW_SCROLLS = `document.activeElement.scrollWidth > document.activeElement.clientWidth &&
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }))`
