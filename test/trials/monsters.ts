/** Generators of hostile files: each repeats one construct until the text has `size` characters. */

import { type PdfPage, writePdf } from "../rag/PdfWriter.ts"
import { containerMonsters } from "./containerMonsters.ts"
import { around, filled, type Monster, repeated } from "./repeatedConstructs.ts"

export const monsters: ReadonlyArray<Monster> = [
  ...repeated("md", {
    "tiny items": "- a\n",
    "spaced items": "- a\n\n",
    "nested items": (i) => `${"  ".repeat(i % 40)}- a\n`,
    "numbered lines": (i) => `${i % 1000000}. a\n`,
    "numbers of one digit": "1. a\n",
    pipes: "| a | b |\n",
    "pipes on a line": "|",
    "a table": (i) => (i === 0 ? "| a | b |\n|---|---|\n" : "| a | b |\n"),
    headings: "# a\n",
    "headings with text": "# a\n\nb\n\n",
    "setext headings": "a\n=\n",
    "setext underlines": "a\n===\n---\n",
    shortcodes: "{{< a >}} b\n",
    "open shortcodes": "{{< a ",
    "open shortcodes on lines": "{{< a\n",
    "open Liquid tags": "{% ",
    "open expressions": "{{ a ",
    "open JSX tags": "<A b={",
    "JSX tags": "<A b={c} />\n",
    containers: "::: a\n",
    admonitions: (i) => `${" ".repeat(4 * (i % 9))}!!! a\n`,
    footnotes: "a[^1]\n[^1]: b\n",
    "open HTML tables": "<table>\n\n",
    attributes: "{#a} ",
    fences: "```\na\n```\n",
    "open fences": "```\n",
    newlines: "\n",
    "lines of one letter": "a\n",
    "paragraphs of one letter": "a\n\n",
    "block quotes": ">",
    "quoted lines": "> a\n",
    emphasis: "*a ",
    brackets: "[",
    "closing brackets": "a](",
    "image starts": "![",
    images: "![a](b.png)\n\n",
    "images on a line": "![a](b.png) ",
    definitions: (i) => `[a${i}]: b\n`,
    "definitions and images": (i) => `[a${i}]: b\n![c][a${i}]\n\n`,
    "html starts": "<a ",
    "html comments": "<!-- ",
    "html images": "<img src=a alt=b>\n\n",
    backticks: "` ",
    "growing backticks": (i) => `${"`".repeat(i % 300)} `,
    spaces: " ",
    tabs: "\t",
    backslashes: "\\",
    ampersands: "&",
    entities: "&amp;",
    "front matter": "---\n",
    "figure words": "Figure 1 ",
    references: "see Figure 1, 2, 3 and 4. ",
    "figures and mentions": (i) => `![Figure ${i}: a](b.png)\n\nsee Figure ${i}.\n\n`,
    "long words": "a",
    sentences: "A b. ",
    thematic: "* * *\n",
    CJK: "中",
    "CJK sentences": "中。"
  }),
  ...around("md", {
    "a long heading": ["# ", ".", `\n\n${"## a\n\nb b b b\n\n".repeat(500)}`],
    "a figure label and spaces": ["![a](b.png)\n\nFigure 1 ", " ", "x\n\nSee Figure 1.\n"],
    "an image with a long caption": ["![", "a ", "](b.png)\n"],
    "a long cell": ["| a | b |\n|---|---|\n| ", "a ", " | b |\n"],
    "a long front matter": ["---\ntitle: ", "a", "\n---\n\nb\n"],
    "a title and tabs": ["---\ntitle:a", "\t", "b\n---\n\nc\n"],
    "trailing spaces": ["a", " ", "b\n"],
    "emphasis before a label": ["![a](b.png)\n\n", "*_( ", "Figure 1: b\n"],
    "a data URI": ["![a](data:image/png;base64,", "A", ")\n"]
  }),
  ...repeated("html", {
    "alternative texts": '<img src="a.png" alt="b">',
    "images in figures": '<figure><img src="a.png" alt="b"></figure>',
    "open figures": '<figure><img alt="b">',
    rowspan: (i) => (i === 0 ? "<table>" : '<tr><td rowspan="1000">a'),
    "rowspan of one letter": (i) => (i === 0 ? "<table>" : "<tr><td rowspan=9>"),
    "a row of rowspan": (i) => (i === 0 ? "<table><tr>" : '<td rowspan="1000">a'),
    "rowspan and rows": (i) => (i % 100 === 0 ? "</table><table>" : '<tr><td rowspan="1000">a'),
    "tables of rowspan": (i) => (i % 1000 === 0 ? "</table><table><tr>" : "<td rowspan=1000>a"),
    "a table of spans": (i) => (i === 0 ? "<table>" : '<tr><td rowspan="9" colspan="9">a<td>b'),
    "a table": (i) => (i === 0 ? "<table>" : "<tr><td>a<td>b"),
    tables: "<table><tr><td>a<td>b</table>",
    "nested tables": "<table><tr><td>",
    "open lists": "<ul><li>a",
    "a list": (i) => (i === 0 ? "<ul>" : "<li>a"),
    lists: "<ul><li>a</ul>",
    "nested blocks": "<div>a",
    headings: "<h1>a</h1>",
    "headings with text": "<h2>a</h2>b",
    "open headings": "<h1>a",
    paragraphs: "<p>a",
    breaks: "a<br>",
    "preformatted text": "<pre>a\n</pre>",
    "open preformatted text": "<pre>a",
    titles: "<title>a</title>",
    attributes: (i) => (i === 0 ? "<p " : `a${i}=b `),
    "long attributes": '<p style="a:b">a</p>',
    entities: "&lt;",
    spaces: " ",
    "soft hyphens": "\u00AD",
    comments: "<!-- a -->",
    "open comments": "<!--",
    captions: "<table><caption>Table 1</caption><tr><td>a<td>b</table><p>Table 1: c",
    drawings: "<figure><svg><text>a</text></svg></figure>",
    "closing tags": "</p>",
    inline: "<b>a</b> "
  }),
  ...around("html", {
    "a long title": ["<title>", "a", `</title>${"<h2>a</h2><p>b b b b".repeat(500)}`],
    "a long alternative text": ['<img src="a.png" alt="', "a ", '"><p>b'],
    "a long item": ["<ul><li>", "<p>a", "</ul>"],
    "a long style": ['<p style="display', " ", 'x">a'],
    "a long doctype": ["<!doctype ", "a", "><p>a"],
    "a long charset": ["<meta ", " ", "charset><p>a"]
  }),
  ...repeated("txt", {
    "lines of one letter": "a\n",
    "paragraphs of one letter": "a\n\n",
    underlines: "a\n===\n\n",
    chapters: "Chapter 1\n\n",
    newlines: "\n",
    "carriage returns": "\r",
    spaces: " ",
    letters: "a",
    sentences: "A b. ",
    quotes: '"',
    CJK: "中文。"
  }),
  ...repeated("csv", {
    rows: "a,b\n",
    newlines: "\n",
    "blank rows": "a,b\n\n",
    delimiters: ",",
    quotes: '"',
    "quoted cells": '"a",'
  }),
  ...around("csv", {
    "a long number": ["a,b\n", "0", "A,c\n"],
    "a long header": ["", "a,", "\nb,c\n"],
    "an open quote": ['a,"', "b ", "\n"]
  }),
  ...repeated("json", { braces: "{", lines: "{}\n" }),
  ...repeated("docx", {
    paragraphs: "<w:p><w:r><w:t>a</w:t></w:r></w:p>",
    "empty paragraphs": "<w:p/>",
    "styles based on others": (i) =>
      `<w:style w:type="paragraph" w:styleId="s${i}"><w:basedOn w:val="s${i + 1}"/></w:style>`,
    headings: '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>a</w:t></w:r></w:p>',
    items: (i) =>
      `<w:p><w:pPr><w:numPr><w:ilvl w:val="${i % 9}"/><w:numId w:val="${1 + (i % 4)}"/></w:numPr></w:pPr><w:r><w:t>a</w:t></w:r></w:p>`,
    tables: "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
    captions: '<w:p><w:pPr><w:pStyle w:val="Caption"/></w:pPr><w:r><w:t>Figure 1: a</w:t></w:r></w:p>',
    drawings: '<w:p><w:r><w:drawing><wp:docPr descr="a"/></w:drawing><w:t>b</w:t></w:r></w:p>',
    bookmarks: (i) => `<w:p><w:bookmarkStart w:id="${i}" w:name="a${i}"/><w:r><w:t>a</w:t></w:r></w:p>`,
    notes: '<w:p><w:r><w:t>a</w:t><w:footnoteReference w:id="1"/></w:r></w:p>',
    fields:
      '<w:p><w:r><w:fldChar w:fldCharType="begin"/><w:instrText>SEQ</w:instrText></w:r><w:r><w:t>a</w:t></w:r></w:p>',
    formulas: "<w:p><m:oMath><m:r><m:t>a</m:t></m:r></m:oMath></w:p>"
  }),
  ...around("docx", {
    runs: ["<w:p>", "<w:r><w:t>a </w:t></w:r>", "</w:p>"],
    "a long text": ["<w:p><w:r><w:t>", "a ", "</w:t></w:r></w:p>"],
    "a long row": ["<w:tbl><w:tr>", "<w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>", "</w:tr></w:tbl>"],
    "a long table": [
      "<w:tbl>",
      '<w:tr><w:tc><w:tcPr><w:gridSpan w:val="9"/><w:vMerge/></w:tcPr><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc></w:tr>',
      "</w:tbl>"
    ]
  }),
  ...containerMonsters
]

const texts: Readonly<Record<string, string | ((i: number) => string)>> = {
  words: (i) => `w${i.toString(36)} `,
  "one word": "gate ",
  letters: "a",
  digits: "0",
  sentences: (i) => `The gate ${i} opens at ${i % 24}. `,
  paragraphs: "The toll of the gate is 4 crowns.\n\n",
  rows: "| gate | 4 |\n",
  items: "- gate\n",
  quotes: '"',
  apostrophes: "'s ",
  spaces: " ",
  newlines: "\n",
  CJK: "门口",
  "lines after CJK": (i) => (i % 8_000 === 0 ? "门" : "\n"),
  "numbers and words": "一eight",
  "CJK sentences": "门口在八点开。",
  capitals: "aB",
  "words of one beginning": (i) => `gate${i.toString(36)} `,
  names: (i) => `the Gate${i} `,
  measures: (i) => `4 ${["days", "hours", "weeks"][i % 3]} `,
  passages: (i) => `{"passage":${i + 1},"title":"a","text":"b"}\n`
}

/** Texts of calls of the models of the process. The path names the model. */
export const modelMonsters: ReadonlyArray<Monster> = ["embed", "rerank", "read", "chat"].flatMap((model) =>
  repeated(model, texts)
)

/** The rows of a table, after its header. */
const tableRows: Readonly<Record<string, (i: number) => string>> = {
  numbers: (i) => `g${i}|${i}\n`,
  "equal numbers": () => "g|1\n",
  money: (i) => `g${i}|$ ${i % 999},000.50\n`,
  decimals: (i) => `g${i}|${i}.${"3".repeat(i % 40)}\n`,
  "long numbers": (i) => `g${i}|${"9".repeat(1_000)}\n`,
  words: (i) => `g${i}|length\n`,
  "empty rows": () => "|\n"
}

/** Parts of a SELECT's syntax tree as DuckDB writes it, which is at most 1,000 deep. */
const column = '{"class":"COLUMN_REF","type":"COLUMN_REF","query_location":1,"column_names":["a"]}'
const nested = (depth: number): string =>
  `${'{"class":"FUNCTION","function_name":"abs","children":['.repeat(depth)}${column}${"]}".repeat(depth)}`
const selected: Readonly<Record<string, string>> = {
  columns: column,
  aggregates: '{"class":"FUNCTION","function_name":"sum","children":[]}',
  "nested functions": nested(500),
  subqueries:
    '{"class":"SUBQUERY","type":"SUBQUERY","subquery":{"node":{"type":"SELECT_NODE","select_list":[]}}}'
}
const treeOf = (list: string): string =>
  `{"error":false,"statements":[{"node":{"type":"SELECT_NODE","select_list":[${list}],"from_table":{"type":"BASE_TABLE","schema_name":"","catalog_name":"","table_name":"t"}}}]}`

/** Texts of answers, questions, tables, queries and the page. The path names what reads them. */
export const readMonsters: ReadonlyArray<Monster> = [
  ...["verify", "closest", "followUp"].flatMap((name) => repeated(name, texts)),
  ...monsters
    .filter(({ path }) => path === "monster.md")
    .map(({ make, name }) => ({ name: name.replace("md", "page"), path: "monster.page", make })),
  ...Object.entries(tableRows).map(([name, row]) => ({
    name: `calculate: ${name}`,
    path: "monster.calculate",
    make: (size: number) => `Name|Length\n${filled(row, size)}`
  })),
  ...Object.entries(selected).map(([name, expression]) => ({
    name: `sql: ${name}`,
    path: "monster.sql",
    make: (size: number) => treeOf(`${filled(`${expression},`, size)}${column}`)
  }))
]

/** A PDF as text. Each of its characters is a byte. */
const pdfText = (pages: ReadonlyArray<PdfPage>): string => Buffer.from(writePdf(pages)).toString("latin1")

/** The place of an item on an A4 page, from the top, `perRow` beside each other. */
const placeOf = (i: number, perRow: number) => ({
  x: 40 + ((i % perRow) * 510) / perRow,
  y: 800 - ((Math.floor(i / perRow) * 12.7) % 760)
})

const textAt = (text: string, perRow: number) => (i: number) => {
  const { x, y } = placeOf(i, perRow)
  return `BT /F0 8 Tf 1 0 0 1 ${x.toFixed(1)} ${y.toFixed(1)} Tm (${text.replace("#", `${i}`)}) Tj ET\n`
}

/** Operators of one page, which has a caption, so that a figure is searched for. */
const drawn: Readonly<Record<string, (i: number) => string>> = {
  words: textAt("gate", 12),
  lines: textAt("The gate opens at eight and shuts at nine.", 1),
  captions: textAt("Figure #: The gate", 2),
  "turned texts": (i) => `BT /F0 8 Tf 0 1 -1 0 ${40 + (i % 500)} ${40 + (i % 700)} Tm (gate) Tj ET\n`,
  "characters at one place": () => "BT /F0 8 Tf 1 0 0 1 90 400 Tm (g) Tj ET\n",
  rules: (i) => `40 ${((i * 7.3) % 800).toFixed(1)} m 500 ${((i * 7.3) % 800).toFixed(1)} l S\n`,
  frames: (i) => `${40 + (i % 400)} ${40 + ((i * 3) % 600)} 90 60 re S\n`,
  curves: (i) => `${40 + (i % 400)} ${40 + ((i * 3) % 600)} m 100 200 300 400 ${i % 500} 90 c S\n`,
  "nested states": () => "q 1 0 0 1 0 0 cm 40 40 9 9 re f\n",
  images: (i) => `q 90 0 0 60 ${40 + (i % 400)} ${40 + ((i * 3) % 600)} cm /I Do Q\n`,
  "figures with captions": (i) =>
    `${textAt("Figure #: The gate", 1)(3 * i)}q 90 0 0 20 40 ${(785 - ((i * 38.1) % 760)).toFixed(1)} cm /I Do Q\n`,
  forms: () => "q 1 0 0 1 0 0 cm /X Do Q\n"
}

/** Pages of about 200 characters each, or parts of the structure of one page. */
const made: Readonly<Record<string, (count: number) => ReadonlyArray<PdfPage>>> = {
  pages: (count) =>
    Array.from({ length: count }, (_, i) => ({
      marks: [
        { text: `Gates ${i}`, x: 50, y: 820 },
        { text: "The gate is open.", x: 50, y: 600 }
      ]
    })),
  // Most of the time is that of drawing their crops.
  "pages with tagged figures": (count) =>
    Array.from({ length: Math.ceil(count / 100) }, (_, i) => ({
      marks: [{ text: "gate", x: 100, y: 500, content: 1 }],
      draw: `/P << /MCID 0 >> BDC q 200 0 0 200 ${90 + (i % 90)} 400 cm /I Do Q EMC`,
      tags: [{ type: "Figure", alt: `gate ${i}`, children: [0, 1] }]
    })),
  "tagged cells": (count) => [
    {
      marks: Array.from({ length: count }, (_, i) => ({ text: "a", ...placeOf(i, 12), content: i })),
      tags: [
        {
          type: "Table",
          children: Array.from({ length: Math.ceil(count / 12) }, (_, row) => ({
            type: "TR",
            children: Array.from({ length: 12 }, (_, i) => ({ type: "TD", children: [12 * row + i] }))
          }))
        }
      ]
    }
  ]
}

/** PDFs of about `size` characters. PDFium's own work is not counted as operations. */
export const pdfMonsters: ReadonlyArray<Monster> = [
  ...Object.entries(drawn).map(([name, unit]) => ({
    name: `pdf: ${name}`,
    path: "monster.pdf",
    make: (size: number) =>
      pdfText([
        {
          marks: [{ text: "Figure 1: The gate", x: 50, y: 820 }],
          draw: filled(unit, size),
          form: "10 10 9 9 re f"
        }
      ])
  })),
  ...Object.entries(made).map(([name, pages]) => ({
    name: `pdf: ${name}`,
    path: "monster.pdf",
    make: (size: number) => pdfText(pages(Math.ceil(size / 200)))
  }))
]
