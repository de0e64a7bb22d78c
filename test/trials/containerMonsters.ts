/** Hostile files of the formats that have parts, and of records. */
import { docx, p } from "../rag/DocxWriter.ts"
import { epub } from "../rag/MailWriter.ts"
import { openDocument, pptx, xlsx } from "../rag/OfficeWriter.ts"
import { zip } from "../rag/ZipWriter.ts"
import { type Monster, repeated } from "./repeatedConstructs.ts"

export const containerMonsters: ReadonlyArray<Monster> = [
  ...repeated("xlsx", {
    cells: '<c t="inlineStr"><is><t>a</t></is></c>',
    rows: "<row><c><v>1</v></c><c><v>2</v></c></row>",
    "rows of words": '<row><c t="inlineStr"><is><t>a</t></is></c><c><v>2</v></c></row>',
    "rows apart": (i) => `<row r="${3 * i + 1}"><c><v>1</v></c><c><v>2</v></c></row>`,
    "a row in another order": (i) => `<c r="A${1_000_000 - (i % 1_000_000)}"><v>1</v></c>`,
    "cells at the last column": (i) => `<row r="${i + 1}"><c r="XFD${i + 1}"><v>1</v></c></row>`,
    "the same cell": '<c r="B2"><v>1</v></c>',
    "titles and rows": (i) =>
      `<row r="${i + 1}"><c><v>1</v></c>${i % 2 === 0 ? "" : "<c><v>2</v></c>"}</row>`,
    phonetics: '<row><c t="inlineStr"><is><t>a</t><rPh><t>b</t></rPh></is></c></row>',
    "merged cells": (i) =>
      `<row r="${3 * i + 1}"><c r="A${3 * i + 1}"><v>1</v></c></row><mergeCell ref="A${3 * i + 1}:C${3 * i + 3}"/>`
  }),
  ...repeated("ods", {
    cells: "<table:table-cell><text:p>a</text:p></table:table-cell>",
    rows: "<table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row>",
    "repeated rows":
      '<table:table-row table:number-rows-repeated="9"><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row>',
    "repeated cells":
      '<table:table-cell table:number-columns-repeated="9"><text:p>a</text:p></table:table-cell>',
    "spanned cells":
      '<table:table-row><table:table-cell table:number-rows-spanned="9" table:number-columns-spanned="9"><text:p>a</text:p></table:table-cell></table:table-row>',
    tables:
      '</table:table><table:table table:name="a"><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row>'
  }),
  ...repeated("odt", {
    paragraphs: "<text:p>a</text:p>",
    headings: '<text:h text:outline-level="2">a</text:h>',
    items: "<text:list><text:list-item><text:p>a</text:p></text:list-item></text:list>",
    "nested items": "<text:list><text:list-item><text:p>a</text:p>",
    "nested frames": "<text:p>a<draw:frame><draw:text-box>",
    notes:
      "<text:p>a<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>b</text:p></text:note-body></text:note></text:p>",
    cells: "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>",
    pictures:
      '<text:p><draw:frame><draw:image xlink:href="a.png"/><svg:desc>a</svg:desc></draw:frame></text:p>'
  }),
  ...repeated("odp", {
    slides:
      "<draw:page><draw:frame><draw:text-box><text:p>a</text:p></draw:text-box></draw:frame></draw:page>",
    titles:
      '<draw:frame presentation:class="title"><draw:text-box><text:p>a</text:p></draw:text-box></draw:frame>'
  }),
  ...repeated("pptx", {
    shapes: "<p:sp><p:txBody><a:p><a:r><a:t>a</a:t></a:r></a:p></p:txBody></p:sp>",
    paragraphs: "<a:p><a:r><a:t>a</a:t></a:r></a:p>",
    "levels of a list": (i) =>
      i === 0
        ? '<p:sp><p:nvPr><p:ph type="body"/></p:nvPr>'
        : `<a:p><a:pPr lvl="${i % 9}"/><a:r><a:t>a</a:t></a:r></a:p>`,
    cells: "<a:tbl><a:tr><a:tc><a:p><a:r><a:t>a</a:t></a:r></a:p></a:tc></a:tr></a:tbl>",
    pictures: '<p:pic><p:cNvPr descr="a"/><a:blip r:embed="p"/></p:pic>'
  }),
  ...repeated("epub", {
    paragraphs: "<p>a</p>",
    headings: "<h2>a</h2>",
    pictures: '<img alt="a" src="a.png"/>'
  }),
  ...repeated("mbox", {
    messages: "From a\nSubject: b\n\nc\n\n",
    "lines from": "\nFrom a\n",
    headers: (i) => (i === 0 ? "From a\n" : "Subject: b\n")
  }),
  ...repeated("eml", {
    "lines of a header": " a\n",
    addresses: (i) => (i === 0 ? "To: " : "a <a@b.c>, "),
    "encoded words": (i) => (i === 0 ? "To: " : "=?utf-8?q?a?= "),
    parts: (i) => (i === 0 ? 'Content-Type: multipart/mixed; boundary="x"\n\n' : "--x\n\na\n"),
    attachments: (i) =>
      i === 0
        ? 'Content-Type: multipart/mixed; boundary="x"\n\n'
        : "--x\nContent-Disposition: attachment; filename=a.txt\n\na\n",
    "parts in parts": (i) => `Content-Type: multipart/mixed; boundary="x${i}"\n\n--x${i}\n`
  }),
  ...repeated("ipynb", {
    cells: '{"cell_type": "markdown", "source": "a"},',
    code: '{"cell_type": "code", "source": "a", "outputs": [{"text": "b"}]},',
    brackets: "["
  }),
  ...repeated("srt", {
    cues: "1\n00:00:01,000 --> 00:00:02,000\na\n\n",
    "cues apart": (i) => `00:${String(i % 60).padStart(2, "0")}:01,000 --> 00:00:02,000\na.\n\n`,
    "open voices": (i) => (i === 0 ? "00:00:01,000 --> 00:00:02,000\n" : "<v."),
    "open tags": "00:00:01,000 --> 00:00:02,000\n<v ",
    lines: "\n \n",
    digits: "1"
  }),
  ...repeated("jsonl", { records: '{"a": 1, "b": "c"}\n', brackets: '{"a":[', "a field": '"a":1,' }),
  ...repeated("zip", { files: "a\f", "empty files": "\f" })
]

/** The parts of archives are separated by form feeds. */
const archive = (text: string): Uint8Array =>
  zip(text.split("\f").map((content, i) => ({ name: `${i}.txt`, content })))

/** The file with a text, by the ending of its name. */
const writers: Readonly<Record<string, (text: string) => Uint8Array>> = {
  pdf: (text) => Buffer.from(text, "latin1"),
  docx: (text) => (text.startsWith("<w:style ") ? docx(p("a"), { styles: text }) : docx(text)),
  xlsx: (text) => xlsx([{ name: "a", rows: text }]),
  ods: (text) => openDocument("spreadsheet", `<table:table table:name="a">${text}</table:table>`),
  odt: (text) => openDocument("text", text),
  odp: (text) => openDocument("presentation", text),
  pptx: (text) => pptx([{ shapes: text }]),
  epub: (text) => epub("a", { "a.xhtml": text }),
  eml: (text) => new TextEncoder().encode(`Subject: a\nMIME-Version: 1.0\n${text}`),
  ipynb: (text) => new TextEncoder().encode(`{"cells": [${text.replace(/,$/, "")}]}`),
  zip: archive
}

/** The file with a text. */
export const bytesOf = (path: string, text: string): Uint8Array =>
  (writers[path.slice(path.lastIndexOf(".") + 1)] ?? ((own) => new TextEncoder().encode(own)))(text)
