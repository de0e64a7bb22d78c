/** What programs around Markdown add to it is cut out, or understood. */
import { assert, describe, it } from "@effect/vitest"
import { parseMarkdown } from "../../packages/rag/src/formats/markdown/Markdown.ts"
import { withoutTemplates } from "../../packages/rag/src/formats/markdown/TemplateMarkup.ts"
import { brokenLaw } from "./FigureLaws.ts"

const blocksOf = (file: string) => {
  const parsed = parseMarkdown(file)
  assert.isUndefined(brokenLaw(parsed))
  return parsed.blocks.map(({ end, heading, start }) => heading ?? parsed.text.slice(start, end).trim())
}

describe("Markdown", () => {
  for (const [name, file, blocks] of [
    [
      "front matter of Hugo",
      '+++\ntitle = "Gate"\ntags = ["a"]\n+++\nIt opens at six.\n',
      ["It opens at six."]
    ],
    [
      "shortcodes of Hugo",
      '{{< toc >}}\n\n{{% notice warning %}}\nIt opens {{< ref "x.md" >}}at six.\n{{% /notice %}}\n\n{{< youtube\n  id="a"\n>}}\n',
      ["It opens at six."]
    ],
    [
      "tags of Liquid",
      "{% include nav.html %}\n\n{: .note }\nIt opens at {{ site.hour }}six.\n\n[TOC]\n",
      ["It opens at six."]
    ],
    [
      "tags of MDX",
      'import Tabs from "@theme/Tabs"\nimport "./a.css"\n\nexport const a = { b: 1 }\n\n<Tabs values={[{ label: "a" }]}>\n<TabItem value="a">\n\nIt opens at six.{/* never */}\n\n</TabItem>\n</Tabs>\n',
      ["It opens at six."]
    ],
    [
      "modules of MDX over several lines",
      'import {\n  Tabs\n} from "@theme/Tabs"\n\nexport const Red = ({ children }) => (\n  <b style={{ color: "red" }}>{children}</b>\n\n);\n\nIt opens at six.\n',
      ["It opens at six."]
    ],
    [
      "links and comments of Obsidian",
      "See [[Opening hours|the hours]] of [[Gate]].%% ask Anna %%\n\n![[plan.png|300]]\n",
      ["See the hours of Gate.", "![](<plan.png>)"]
    ],
    [
      "names of components but in a line",
      "<Nav />\n\nDepth <Check /> and height <Cross/>.\n",
      ["Depth Check and height Cross."]
    ],
    [
      "tags of MDX that end after a word",
      'It <Badge kind="new">opens</Badge> at six, as a List<String> says.\n',
      ["It opens at six, as a List<String> says."]
    ],
    [
      "attributes of headings, links and pictures",
      "# Gate {#gate .top}\n\nSee [here](x.md){target=_blank} for [more](y.md){ .md-button }.\n",
      ["Gate", "See [here](x.md) for [more](y.md)."]
    ],
    [
      "footnotes",
      "It opens at six.[^1]\n\n[^1]: In winter at seven.\n",
      ["It opens at six.", "In winter at seven."]
    ],
    [
      "admonitions",
      ':::note Opening times\nIt opens at six.\n:::\n\n!!! warning "Ice"\n    The quay is closed.\n\n    In winter.\n\n> [!TIP]\n> Call before.\n',
      ["Opening times\nIt opens at six.", "Ice\nThe quay is closed.", "In winter.", "> \n> Call before."]
    ],
    ["tags without text", "<details>\n\nIt opens at six.\n\n</details>\n", ["It opens at six."]]
  ] as const) {
    it(`has no ${name} in its text`, () => assert.deepStrictEqual(blocksOf(file), [...blocks]))
  }

  it("has the title of front matter in TOML, and the rest of it", () => {
    const { about, title } = parseMarkdown('+++\ntitle = "Gate"\ndate = 2026-05-03\n+++\ntext\n')
    assert.deepStrictEqual([title, about], ["Gate", "date = 2026-05-03"])
  })

  it("has the title of a figure of Hugo", () => {
    assert.strictEqual(
      parseMarkdown('{{< figure src="gate.png" title="Gate" >}}\n').text,
      "![Gate](<gate.png>)\n"
    )
  })

  it("has HTML tables with blank lines", () => {
    const rows =
      "<table>\n<tr><th>Berth</th><th>Fee</th></tr>\n\n<tr><td>Q1</td><td>50</td></tr>\n\n</table>\n"
    assert.deepStrictEqual(parseMarkdown(rows).figures[0]?.rows, [
      ["Berth", "Fee"],
      ["Q1", "50"]
    ])
  })

  it("has the picture of a shortcode, with its caption", () => {
    const { pictures, text } = parseMarkdown('{{< figure src="gate.png" caption="The gate" >}}\n')
    assert.deepStrictEqual([text, pictures[0]?.reference], ["![The gate](<gate.png>)\n", "gate.png"])
  })

  it("keeps code, formulas, and what only looks like a template", () => {
    for (const kept of [
      "```\n{{< toc >}}\nimport a from 'b'\n```\n",
      "    {% if a %}\n",
      "Write `{{ site.name }}` and `[^1]` there.\n\n[^1]: x\n".replace("[^1]: x\n", ""),
      "$\\frac{{a}}{{b}}$ and $\\sqrt[3]{x}$ and \\mathbf{{x}}\n",
      "A List<String> and [^a-z] match.\n",
      "Title\n===   \n\nand x = {a, b}\n",
      "See [[1]](https://example.org), [[1, 2]], a[[x]] and 50%% and 60%% of it.\n",
      "Logic-less {{mustache}} templates.\n",
      "We import tea from China, and export it.\n"
    ]) {
      assert.strictEqual(withoutTemplates(kept), kept)
    }
  })
})
