/** Documents of every shape, the same ones for the same seed. */

/** mulberry32: numbers from 0 up to but not including 1. */
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

/** Markdown with everything in it, badly formed things as well. */
export const randomMarkdown = (seed: number): string => {
  const next = random(seed)
  const end = pick(next, ["\n", "\n", "\r\n"])
  const front = next() < 0.2 ? "---\ntitle: 'Front'\ntags: [a]\n---\n" : ""
  return (
    front + many(next, 25, () => pick(next, markdownParts)(next)).join(pick(next, ["\n\n", "\n\n\n", "\n"]))
  ).replaceAll("\n", end)
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

/** HTML with every kind of block and many tags left open. */
export const randomHtml = (seed: number): string => {
  const next = random(seed)
  return `<title>T</title><body>${many(next, 20, () => pick(next, htmlParts)(next)).join("\n")}`
}
