/** A document with more sections than are recalled, one of which answers the question. */

export const QUESTION = "How many oak planks close the north gate?"

export const QUOTE = "Seventeen oak planks close the north gate."

const section = (number: number): string =>
  `## Berth ${number}\n\nBerth ${number} takes boats of ${number + 6} metres. Its fee is ${number * 3} crowns a night, paid at the gate.\n`

export const HARBOUR = {
  name: "harbour.md",
  mimeType: "text/markdown",
  buffer: Buffer.from(
    [
      "# The harbour\n",
      "## Gates\n",
      `The harbour has two gates. ${QUOTE} They are changed when they have lost a fifth of their thickness.\n`,
      ...Array.from({ length: 24 }, (_, at) => section(at + 1))
    ].join("\n")
  )
}
