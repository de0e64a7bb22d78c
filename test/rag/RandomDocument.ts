/** Random documents, reproducible by seed. */

import { drawing, listed, p, r, styled, table, tc } from "./DocxWriter.ts"

/** mulberry32: numbers from 0 to 1 (exclusive). */
export const random = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const WORDS =
  "weir gate 4.20 m quay “rope” Dr. e.g. café naïve — 水位 船闸在每天七点开放。 🦆 <b>bold</b> [link](x) `code` *a* _b_ | &amp; # - 1.".split(
    " "
  )

const pick = <A>(next: () => number, all: ReadonlyArray<A>): A => all[Math.floor(next() * all.length)]!

const prose = (next: () => number, words: number): string => {
  let text = ""
  for (let i = 0; i < words; i++) {
    text += (i === 0 ? "" : next() < 0.08 ? "\n" : next() < 0.1 ? ". " : " ") + pick(next, WORDS)
  }
  return text
}

const many = (next: () => number, most: number, one: (index: number) => string): ReadonlyArray<string> =>
  Array.from({ length: 1 + Math.floor(next() * most) }, (_, index) => one(index))

const markdownParts: ReadonlyArray<(next: () => number) => string> = [
  (next) => `${"#".repeat(1 + Math.floor(next() * 6))} ${prose(next, 4).replaceAll("\n", " ")}`,
  (next) => `${prose(next, 3).replaceAll("\n", " ")}\n${pick(next, ["===", "---"])}`,
  (next) => prose(next, 5 + Math.floor(next() * 60)),
  (next) => prose(next, 600),
  (next) =>
    many(next, 30, (i) => `${pick(next, ["-", `${i + 1}.`])} ${prose(next, 12)}\n\n  ${prose(next, 5)}`).join(
      "\n"
    ),
  (next) => `| a | b |\n|---|---|\n${many(next, 80, () => `| ${pick(next, WORDS)} | 2 |`).join("\n")}`,
  (next) =>
    `\`\`\`ts\n${many(next, 90, () => `  ${prose(next, 6)}`).join("\n\n")}\n${next() < 0.8 ? "```" : ""}`,
  (next) => `> ${prose(next, 20)}\n> ## quoted`,
  () => "x".repeat(4000),
  () => "水".repeat(1500),
  () => "[ref]: https://example.org 'title'",
  () => "<div>\n<p>raw</p>\n</div>",
  () => "<!-- a comment -->",
  () => "***"
]

/** Markdown with every kind of block, also malformed. */
export const randomMarkdown = (seed: number): string => {
  const next = random(seed)
  const end = pick(next, ["\n", "\n", "\r\n"])
  const front = next() < 0.2 ? "---\ntitle: 'Front'\ntags: [a]\n---\n" : ""
  return (
    front + many(next, 25, () => pick(next, markdownParts)(next)).join(pick(next, ["\n\n", "\n\n\n", "\n"]))
  ).replaceAll("\n", end)
}

/** A PNG of one pixel. */
const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj5EQAAAABJRU5ErkJggg=="

const label = (next: () => number): string =>
  `${pick(next, ["Figure", "Fig.", "Table", "图", "表"])} ${1 + Math.floor(next() * 5)}${pick(next, [":", ".", "：", ""])} `

const one = (next: () => number, words: number): string => prose(next, words).replaceAll(/[\n|[\]]/g, " ")

const markdownFigures: ReadonlyArray<(next: () => number) => string> = [
  (next) => `![${one(next, 3)}](x${Math.floor(next() * 9)}.png)`,
  (next) => `![](${PIXEL} "${label(next)}by hand")`,
  (next) => `![a](x.png)\n*${label(next)}${one(next, 5)}*`,
  (next) => `${label(next)}${one(next, 6)}`,
  (next) => `see ${label(next)}and ${label(next)}for ${one(next, 6)}`,
  (next) => `| a | ![b](x.png) |\n|---|:--|\n${many(next, 5, () => `| ${one(next, 2)} | 2 |`).join("\n")}`,
  (next) => `<figure><img src="x.png" alt="a"><figcaption>${label(next)}b</figcaption></figure>`,
  () => "<table><tr><td>a<td>b<tr><td>c<td>d</table>",
  (next) => `text ![in](x.png) it ${one(next, 4)}`,
  () => "![a](x.png)\n![b](y.png)\n![c](z.png)"
]

/** Markdown of headings, prose, figures, tables and captions in any order. */
export const randomMarkdownFigures = (seed: number): string => {
  const next = random(seed)
  const parts = [...markdownFigures, ...markdownFigures, ...markdownParts.slice(0, 3)]
  return many(next, 30, () => pick(next, parts)(next)).join("\n\n")
}

const htmlFigures: ReadonlyArray<(next: () => number) => string> = [
  (next) => `<img src="x.png" alt="${one(next, 3).replaceAll('"', "")}">`,
  (next) => `<figure><img src="${PIXEL}"><figcaption>${label(next)}${prose(next, 6)}</figcaption></figure>`,
  (next) => `<figure>${pick(next, htmlFigures)(next)}<figcaption>${label(next)}</figure>`,
  (next) => `<p>${label(next)}${prose(next, 6)}</p>`,
  (next) => `<p>see ${label(next)}and <img alt="in" src="x.png"> ${prose(next, 6)}</p>`,
  (next) =>
    `<table>${next() < 0.4 ? `<caption>${label(next)}x</caption>` : ""}${many(next, 6, () => `<tr>${many(next, 4, () => `<td colspan=${Math.floor(next() * 4)} rowspan=${Math.floor(next() * 4)}>${prose(next, 2)}`).join("")}`).join("")}</table>`,
  (next) => `<ul><li>${pick(next, htmlFigures)(next)}<li>${prose(next, 3)}</ul>`,
  (next) => `<h2>${prose(next, 3)}${pick(next, htmlFigures)(next)}</h2>`,
  (next) => `<figure><svg><text>${one(next, 2)}</text></svg><figcaption>${label(next)}`,
  (next) => `<figure><pre>${prose(next, 9)}</pre><figcaption>${label(next)}</figcaption></figure>`
]

/** HTML of nested and unclosed figures, tables and captions. */
export const randomHtmlFigures = (seed: number): string => {
  const next = random(seed)
  return many(next, 25, () => pick(next, [...htmlFigures, ...htmlParts])(next)).join("\n")
}

const xml = (next: () => number, words: number): string =>
  one(next, words).replaceAll(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)

const docxParagraph = (next: () => number): string => {
  const text = pick(next, [
    xml(next, 8),
    `${label(next)}${xml(next, 4)}`,
    `see ${label(next)}${xml(next, 4)}`,
    ""
  ])
  return p(
    `${r(text)}${next() < 0.2 ? drawing(`p${Math.floor(next() * 3)}`, xml(next, 2).replaceAll('"', "")) : ""}${next() < 0.1 ? `<w:r><w:pict><w:txbxContent>${docxPart(next)}</w:txbxContent></w:pict></w:r>` : ""}`,
    pick(next, [
      "",
      "",
      styled("Heading1"),
      styled("3"),
      styled("Caption"),
      styled("Title"),
      listed(1),
      listed(1, 2),
      listed(2)
    ])
  )
}

const docxPart = (next: () => number): string =>
  next() < 0.85
    ? docxParagraph(next)
    : table(
        Array.from({ length: 1 + Math.floor(next() * 4) }, () =>
          many(next, 4, () =>
            tc(
              next() < 0.05 ? docxPart(next) : p(xml(next, 2)),
              pick(next, ["", "", '<w:gridSpan w:val="2"/>', "<w:vMerge/>", '<w:vMerge w:val="restart"/>'])
            )
          )
        )
      )

/** The body of a Word document: styles, lists, nested tables, pictures, text boxes. */
export const randomDocxBody = (seed: number): string => {
  const next = random(seed)
  return many(next, 30, () => docxPart(next)).join("")
}

const htmlParts: ReadonlyArray<(next: () => number) => string> = [
  (next) => `<h${1 + Math.floor(next() * 6)}>${prose(next, 4)}`,
  (next) => `<p>${prose(next, 30)}<br>${prose(next, 5)}`,
  (next) => `<div>${prose(next, 400)}</div>`,
  (next) => `<ul>${many(next, 30, () => `<li>${prose(next, 12)}<ol><li>deep<p>para</ol>`).join("")}</ul>`,
  (next) =>
    `<table>${many(next, 60, () => `<tr><th>${prose(next, 2)}<td><p>${prose(next, 3)}</p></td>`).join("")}</table>`,
  (next) => `<table><tr><td><h2>card</h2>${prose(next, 9)}<td><table><tr><td>in</table></table>`,
  (next) => `<pre>${prose(next, 80)}</pre>`,
  (next) =>
    `<script>never()</script><nav>never</nav><p hidden>never<b>never</b></p><template><p>never</template>${prose(next, 3)}`,
  (next) => `<dl><dt>${prose(next, 2)}<dd>${prose(next, 8)}</dl></section></ul>`
]

/** HTML with every kind of block and many unclosed tags. */
export const randomHtml = (seed: number): string => {
  const next = random(seed)
  return `<title>T</title><body>${many(next, 20, () => pick(next, htmlParts)(next)).join("\n")}`
}
