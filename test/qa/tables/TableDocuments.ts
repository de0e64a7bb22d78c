/** Nine tables in eight formats, which the questions in `questions.jsonl` are about. */
import { docx, table, tc } from "../../rag/DocxWriter.ts"
import { numberCell, openDocument, textCell, xlsx } from "../../rag/OfficeWriter.ts"

type Rows = ReadonlyArray<ReadonlyArray<string>>

/** Rows of cells from lines with ` | ` between. */
const rowsOf = (text: string): Rows =>
  text
    .trim()
    .split("\n")
    .map((line) => line.trim().split(" | "))

const PASSAGES = rowsOf(`
  Boat | Lock | Date | Cargo (t) | Toll
  Heron | Upper | 2024-03-04 | 12 | 40
  Swan | Lower | 2024-03-05 | 85 | 120
  Pike | Middle | 2024-03-19 | 30 | 60
  Heron | Middle | 2024-04-02 | 10 | 40
  Gull | Upper | 2024-04-02 | 4 | 20
  Swan | Upper | 2024-04-15 | 90 | 120
  Teal | Lower | 2024-04-28 | 22 | 55
  Otter | Lower | 2024-05-06 | 3 | 20
  Pike | Upper | 2024-05-11 | 28 | 60
  Swan | Middle | 2024-05-23 | 70 | 120
  Heron | Lower | 2024-05-30 | 14 | 40
  Teal | Upper | 2024-06-08 | 25 | 55
  Gull | Middle | 2024-06-17 | 5 | 20
  Swan | Lower | 2024-06-21 | 88 | 120`)

const CREW = rowsOf(`
  Name | Boat | Role | Monthly wage | Joined
  Ada | Swan | captain | 3100.50 | 2015-02-01
  Bert | Swan | mate | 2450.00 | 2018-07-15
  Carl | Heron | captain | 2800.00 | 2012-11-30
  Dina | Pike | captain | 2950.25 | 2020-01-10
  Emil | Pike | cook | 1990.00 | 2021-05-05
  Fay | Teal | captain | 2700.00 | 2016-09-09
  Gus | Otter | captain | 2300.00 | 2022-03-21
  Hana | Swan | cook | 2050.75 | 2019-12-12`)

const HARBOURS = rowsOf(`
  Harbour | Country | Berths | Depth (m) | Tax
  Alba | Norra | 120 | 6.5 | 4 %
  Corin | Norra | 80 | 9.0 | 4 %
  Dorn | Sund | 45 | 4.25 | 7 %
  Elm | Sund | 200 | 12.0 | 7 %
  Fara | Isla | 60 | 7.5 | 3 %`)

const REPAIRS = rowsOf(`
  Date | Boat | Work | Hours | Cost
  2024-01-15 | Heron | hull | 12 | €480
  2024-02-03 | Swan | engine | 30 | €2,150
  2024-02-20 | Pike | engine | 18 | €1,300
  2024-03-11 | Swan | sails | 9 | €720
  2024-05-07 | Gull | hull | 6 | €240
  2024-06-19 | Teal | engine | 22 | €1,640
  2024-07-02 | Heron | engine | 15 | €1,125`)

/** The serial number of a date in Excel. */
const serial = (date: string): number => Date.parse(date) / 86_400_000 + 25_569

const workbook = (): Uint8Array => {
  const cell = (text: string, row: number, column: number): string => {
    const reference = `${"ABCDE"[column]}${row + 1}`
    if (row === 0 || column < 2) return textCell(reference, text)
    return column === 2 ? numberCell(reference, serial(text), 1) : numberCell(reference, text)
  }
  const rows = PASSAGES.map(
    (cells, row) =>
      `<row r="${row + 1}">${cells.map((text, column) => cell(text, row, column)).join("")}</row>`
  )
  return xlsx([{ name: "Passages", rows: rows.join("") }], { formats: [0, "yyyy-mm-dd"] })
}

const openSheet = (): Uint8Array => {
  const cells = (row: ReadonlyArray<string>) =>
    row.map((text) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`).join("")
  const rows = HARBOURS.map((row) => `<table:table-row>${cells(row)}</table:table-row>`).join("")
  return openDocument("spreadsheet", `<table:table table:name="Harbours">${rows}</table:table>`)
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** The documents, by path. */
export const tableDocuments = (): Readonly<Record<string, Uint8Array>> => ({
  "boats.csv": bytes(
    `Boat,Length (m),Crew,Price,Built,Home port
Heron,12.5,4,"$1,200",1987,Alba
Otter,9.25,2,$950,2003,Elm
Swan,31.0,11,"$14,300",1962,Corin
Gull,9.25,3,$700,1999,Alba
Pike,18.0,6,"$5,450",1975,Dorn
Teal,15.75,5,"$3,100",2011,Corin
`
  ),
  "passages.xlsx": workbook(),
  "locks.md": bytes(
    `# Locks of the canal

The canal is old.

| Lock | Height (m) | Boats per day | Opened |
| --- | --- | --- | --- |
| Upper | 3.2 | 120 | 1871-05-01 |
| Middle | 2.8 | 95 | 1872-09-12 |
| Lower | 4.05 | 210 | 1870-03-30 |
| Total | 10.05 | 425 | |
`
  ),
  "fees.html": bytes(
    `<html><body><h1>Mooring fees</h1><table><tr><th>Season</th><th>Fee</th><th>Berths</th></tr>
<tr><td>Winter</td><td>4 crowns</td><td>20</td></tr><tr><td>Spring</td><td>7 crowns</td><td>28</td></tr>
<tr><td>Summer</td><td>12 crowns</td><td>35</td></tr><tr><td>Autumn</td><td>7 crowns</td><td>20</td></tr></table></body></html>`
  ),
  "crew.docx": docx(table(CREW.map((row) => row.map((text) => tc(text))))),
  "personal.csv": bytes(
    `Name;Abteilung;Gehalt;Urlaubstage;Eintritt
Anna;Werft;3100,50;30;01.04.2015
Bruno;Werft;2899,25;28;15.09.2019
Clara;Büro;4000,00;30;01.01.2010
Dirk;Büro;2750,00;26;01.07.2021
Eva;Hafen;3300,00;30;12.03.2017
`
  ),
  "stock.csv": bytes(
    `商品,类别,数量,单价,进货日期
绳子,索具,40,3.5,2024-01-12
锚,铁件,6,120,2024-02-20
帆,布料,12,88.5,2024-03-08
铁链,铁件,15,42,2024-03-25
篷布,布料,9,60,2024-05-02
`
  ),
  "harbours.ods": openSheet(),
  "repairs.tsv": bytes(REPAIRS.map((row) => row.join("\t")).join("\n"))
})
