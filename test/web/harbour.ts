/** Test documents: one with more sections than are recalled, and a PDF of one page. */

export const QUESTION = "How many oak planks close the north gate?"

export const QUOTE = "Seventeen oak planks close the north gate."

/** Long enough to be a passage of its own. */
const berth = (number: number): string =>
  [
    `## Berth ${number}\n`,
    `Berth ${number} takes boats of ${number + 6} metres and lies ${number * 12} paces from the harbour office.`,
    `Its fee is ${number * 3} crowns a night, paid before noon, and a third less for boats that stay a week.`,
    "Water and light are counted at the post and written down by the watch when the boat leaves.",
    "Ropes are made fast to both rings, the longer one first, and looked after when the wind turns.",
    "Nobody cooks on deck, and what is thrown away goes into the bins behind the shed, sorted.",
    `Who wants to leave before six in the morning tells the watch of pier ${number % 4} the evening before.\n`
  ].join("\n")

export const HARBOUR = {
  name: "harbour.md",
  mimeType: "text/markdown",
  buffer: Buffer.from(
    [
      "# The harbour\n",
      "## Gates\n",
      `The harbour has two gates. ${QUOTE} They are changed when they have lost a fifth of their thickness.\n`,
      ...Array.from({ length: 24 }, (_, at) => berth(at + 1))
    ].join("\n")
  )
}

const LINES = [
  "The log of the lightkeeper",
  "The lamp was lit at nine and put out at five.",
  "Three ships passed to the north, none of them close.",
  "The oil will last for eleven nights more."
]

/** A minimal PDF: one A5 page in Helvetica. */
const pdf = (): Buffer => {
  const text = LINES.map((line, at) => `1 0 0 1 40 ${540 - at * 24} Tm (${line}) Tj`)
  const content = `BT /F 14 Tf ${text.join(" ")} ET`
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 420 595] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
  ]
  let file = "%PDF-1.4\n"
  const offsets = objects.map((object, at) => {
    const offset = file.length
    file += `${at + 1} 0 obj\n${object}\nendobj\n`
    return `${String(offset).padStart(10, "0")} 00000 n \n`
  })
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`
  return Buffer.from(
    `${file}${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`
  )
}

export const LOG = { name: "log.pdf", mimeType: "application/pdf", buffer: pdf() }
export const LOG_LINES: ReadonlyArray<string> = LINES
