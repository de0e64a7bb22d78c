/**
 * Prints the sample PDFs from the HTML pages beside this file. With a name, prints only that one:
 *
 *     node apps/demo-server/scripts/print-reports.ts flow-study
 */
import chromium from "@sparticuz/chromium"
import { fileURLToPath } from "node:url"
import { chromium as playwright } from "playwright-core"

/** Footer of each document. */
const FOOTERS = { "inspection-report": "Main Inspection 2025", "flow-study": "Flow Study 2024" } as const

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

const edge = (text: string): string =>
  `<div style="font-size: 7pt; width: 100%; padding: 0 18mm; color: #555">${text}</div>`

const wanted = process.argv[2]
const browser = await playwright.launch({
  executablePath: await chromium.executablePath(),
  args: chromium.args
})
try {
  for (const [name, foot] of Object.entries(FOOTERS)) {
    if (wanted !== undefined && wanted !== name) continue
    const page = await browser.newPage()
    await page.goto(new URL(`./${name}.html`, import.meta.url).href)
    await page.pdf({
      path: here(`../samples/${name}.pdf`),
      preferCSSPageSize: true,
      displayHeaderFooter: true,
      headerTemplate: edge("Aldwater Navigation · Harrow Lock"),
      footerTemplate: edge(`${foot} · page <span class="pageNumber"></span>`),
      tagged: true
    })
  }
} finally {
  await browser.close()
}
