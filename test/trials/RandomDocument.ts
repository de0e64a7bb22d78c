/** Random documents with every construct of Markdown and HTML, broken and nested, in several scripts. */
import type { Random } from "../../bench/corpus/Random.ts"

const words = [
  "gate",
  "harbour",
  "Über",
  "naïve",
  "water",
  "水位",
  "闸门在夜间关闭。",
  "👩‍🚀",
  "𝒳",
  "e\u0301",
  "10.5",
  "km/h",
  "`code`",
  "**bold**",
  "_it_",
  "[link](./a.md)",
  "<b>tag</b>",
  "&amp;",
  "\\*",
  "“quoted”",
  "end.",
  "Dr.",
  "A|B",
  "#no"
] as const

const line = (random: Random, most = 40): string =>
  Array.from({ length: random.between(1, most) }, () => random.pick(words)).join(" ")

const makers: readonly [(random: Random) => string, ...Array<(random: Random) => string>] = [
  (random) => line(random),
  (random) => Array.from({ length: random.between(1, 8) }, () => line(random)).join("\n"),
  (random) => `${"#".repeat(random.between(1, 7))} ${line(random, 6)}`,
  (random) => `${line(random, 5)}\n${random.pick(["===", "---", "--"])}`,
  (random) =>
    Array.from(
      { length: random.between(1, 9) },
      (_, at) => `${" ".repeat(2 * (at % 4))}- ${line(random, 20)}`
    ).join("\n"),
  (random) =>
    Array.from(
      { length: random.between(1, 5) },
      (_, at) => `${at + 1}. ${line(random, 9)}\n\n   ${line(random, 9)}`
    ).join("\n"),
  (random) =>
    `| ${line(random, 3)} | b |\n| --- | --- |\n${Array.from({ length: random.between(0, 30) }, () => `| ${line(random, 5)} | ${random.between(0, 99)} |`).join("\n")}`,
  (random) =>
    `\`\`\`${random.pick(["ts", "", "a b"])}\n${line(random)}\n\n# not a heading\n${random.next() < 0.8 ? "```" : ""}`,
  (random) => `> ${line(random)}\n>> ${line(random)}`,
  (random) => `<div>${line(random)}\n<p>${random.next() < 0.5 ? "</p></div>" : ""}`,
  (random) => `<!-- ${line(random, 5)} -->`,
  () => "***",
  (random) => `    ${line(random)}`,
  (random) => `[ref]: https://example.com/${random.between(0, 9)} "t"`,
  () => "\u00a0\u200b \t",
  (random) => random.pick(["x", "水"]).repeat(random.between(1, 6000))
]

/** Generates the text of one document. */
export const randomText = (random: Random): string => {
  const between = random.pick(["\n\n", "\n\n", "\r\n\r\n", "\n", "\n\n\n\n"])
  const mark = random.next() < 0.1 ? "\ufeff" : ""
  return mark + Array.from({ length: random.between(1, 25) }, () => random.pick(makers)(random)).join(between)
}
