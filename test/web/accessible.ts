/** What axe-core finds wrong with a page: WCAG 2.2 A and AA, and its best practices; contrast among them. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"

const AXE = readFileSync(join(import.meta.dirname, "../../node_modules/axe-core/axe.min.js"), "utf8")

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

/** The rows of the trace say in words what their numbers are: `Recalled 1, by vector 3`, not `1 3`. */
const NOT = { "label-content-name-mismatch": { enabled: false } }

const LOOK = `axe.run(document, ${JSON.stringify({ runOnly: TAGS, resultTypes: ["violations"], rules: NOT })})
  .then(({ violations }) => violations.map(({ help, id, nodes }) => id + ": " + help + ": " + nodes.map(({ target }) => target.join(" ")).join(", ")))`

/** What is measured as it is drawn is known a frame later. */
const DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"

/** Nothing, where all is well. */
export const barriers = async (page: Page): Promise<ReadonlyArray<string>> => {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(AXE)
  await page.evaluate(DRAWN)
  return page.evaluate<ReadonlyArray<string>>(LOOK)
}
