/**
 * Prints `inspection-report.html` to `samples/inspection-report.pdf`, the PDF among the sample documents:
 *
 *     node apps/demo-server/scripts/print-inspection-report.ts
 */
import chromium from "@sparticuz/chromium"
import { fileURLToPath } from "node:url"
import { chromium as playwright } from "playwright-core"

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

const edge = (text: string): string =>
  `<div style="font-size: 7pt; width: 100%; padding: 0 18mm; color: #555">${text}</div>`

const browser = await playwright.launch({
  executablePath: await chromium.executablePath(),
  args: chromium.args
})
try {
  const page = await browser.newPage()
  await page.goto(new URL("./inspection-report.html", import.meta.url).href)
  await page.pdf({
    path: here("../samples/inspection-report.pdf"),
    preferCSSPageSize: true,
    displayHeaderFooter: true,
    headerTemplate: edge("Aldwater Navigation · Harrow Lock"),
    footerTemplate: edge('Main Inspection 2025 · page <span class="pageNumber"></span>'),
    tagged: true
  })
} finally {
  await browser.close()
}
