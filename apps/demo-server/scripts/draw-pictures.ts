/**
 * Draws the chart of the sample documents, and writes the sample Word document with its plan:
 *
 *     node apps/demo-server/scripts/draw-pictures.ts
 */
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import sharp from "sharp"
import { docx, drawing, listed, p, r, styled, table, tc } from "../../../test/rag/DocxWriter.ts"

const sample = (name: string): string => fileURLToPath(new URL(`../samples/${name}`, import.meta.url))

const FONT = `font-family="Open Sans, DejaVu Sans, sans-serif" fill="#222"`

const png = (width: number, height: number, inner: string): Promise<Buffer> =>
  sharp(
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#fff"/>${inner}</svg>`
    )
  )
    .flatten({ background: "#fff" })
    .png({ compressionLevel: 9, palette: true, colours: 32 })
    .toBuffer()

const LOCKINGS = [
  ["April", 512],
  ["May", 734],
  ["June", 861],
  ["July", 1043],
  ["August", 986],
  ["September", 640]
] as const

// Month and count are one line of text, so that OCR reads them together.
const bars = LOCKINGS.map(([month, count], i) => {
  const y = 90 + i * 64
  return `<text x="40" y="${y + 32}" font-size="28" ${FONT}>${month}: ${count}</text><rect x="330" y="${y}" width="${Math.round(count / 2)}" height="44" fill="#dbe9f4"/>`
}).join("")

const chart = await png(
  900,
  520,
  `<text x="450" y="52" font-size="32" text-anchor="middle" ${FONT}>Lockings at Harrow Lock in 2024</text>${bars}<text x="450" y="500" font-size="24" text-anchor="middle" ${FONT}>Source: logbook of the lock, counted by Ida Thornbury</text>`
)
writeFileSync(sample("lockings-2024.png"), chart)

const box = (x: number, y: number, width: number, height: number, fill: string, text: string): string =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${fill}" stroke="#333" stroke-width="2"/><text x="${x + width / 2}" y="${y + height / 2 + 8}" font-size="24" text-anchor="middle" ${FONT}>${text}</text>`
const plan = await png(
  900,
  380,
  `${box(190, 120, 500, 150, "#eef4f8", "Chamber, pumped dry")}${box(30, 140, 130, 110, "#e8dcc4", "Stop logs")}${box(720, 140, 150, 110, "#e8dcc4", "Stop logs")}${box(210, 290, 130, 60, "#d9ead3", "Pump A")}${box(540, 290, 130, 60, "#d9ead3", "Pump B")}<text x="450" y="50" font-size="26" text-anchor="middle" ${FONT}>Crane on the towpath side, reach 18 m</text><path d="M450 65V118" stroke="#333" stroke-width="2"/><text x="95" y="290" font-size="20" text-anchor="middle" ${FONT}>upper</text><text x="795" y="290" font-size="20" text-anchor="middle" ${FONT}>lower</text>`
)

const counted = (name: string, n: number, words: string): string =>
  `${r(`${name} `)}<w:fldSimple w:instr=" SEQ ${name} \\* ARABIC ">${r(String(n))}</w:fldSimple>${r(`: ${words}`)}`
const cells = (rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  table(rows.map((row) => row.map((cell) => tc(cell))))
const note = (id: number): string => `<w:r><w:footnoteReference w:id="${id}"/></w:r>`

const body = [
  p("Winter Stoppage 2026", styled("Title")),
  p("Plan of works for Harrow Lock, agreed by the keepers and the navigation office on 3 October 2025."),
  p("When and why", styled("Heading1")),
  p(
    `${r("The lock is closed from 12 January to 6 February 2026. The chamber is pumped dry, and what the main inspection of 2025 asked for is done.")}${note(2)}${r(" Boats that want to pass before the stoppage have to be in the chamber by noon of 11 January.")}`
  ),
  p("The works", styled("Heading1")),
  p(
    "Table 1 gives the works week by week. The sill comes first, because the mortar has to harden for ten days before water stands on it."
  ),
  p(counted("Table", 1, "Works by week, with who does them and what they cost"), styled("Caption")),
  cells([
    ["Week", "Work", "Who", "Cost"],
    ["12 to 18 January", "Pump out, net the fish, scaffold", "Keepers and volunteers", "900 crowns"],
    ["19 to 25 January", "Cast in the lower sill at its island end", "Mason Oda Brandt", "4,200 crowns"],
    [
      "26 January to 1 February",
      "Grease lines, collar straps, new bollard ropes",
      "Tomas Askew",
      "650 crowns"
    ],
    ["2 to 6 February", "Paint the ladders, flood the chamber, trial lockings", "All keepers", "300 crowns"]
  ]),
  p("Together the works come to 6,050 crowns. Painting is dropped when it is colder than 5 °C."),
  p("How the site is laid out", styled("Heading1")),
  p(
    "The crane stands on the towpath side, as Figure 1 shows. Pump A runs all the time and Pump B only when the level in the sump passes 40 cm."
  ),
  p(
    drawing(
      "plan",
      "Plan of the chamber with stop logs at both ends, two pumps below it and a crane above",
      "embed",
      [5_400_000, 2_280_000]
    )
  ),
  p(counted("Figure", 1, "Where the stop logs, the pumps and the crane stand"), styled("Caption")),
  p("Rules on the site", styled("Heading1")),
  p("Nobody goes below the coping without a helmet.", listed(1)),
  p("The ladder on the island side is the only way down.", listed(1)),
  p("The gas alarm is worn by:", listed(1)),
  p("whoever works in the culverts;", listed(1, 1)),
  p("whoever tends Pump B.", listed(1, 1)),
  p("Work ends at 16:30, or at dusk when that is earlier.", listed(1)),
  p("If the water comes", styled("Heading1")),
  p(
    "When the upper gauge passes 4.75 m during the stoppage, the site is cleared within one hour and the chamber is flooded by hand: a chamber full of water stands a flood, and an empty one does not."
  )
].join("")

writeFileSync(
  sample("winter-stoppage-2026.docx"),
  docx(body, {
    title: "Winter Stoppage 2026",
    pictures: { plan },
    footnotes: `<w:footnote w:id="2">${p("See the report of the main inspection, section 6.")}</w:footnote>`
  })
)
