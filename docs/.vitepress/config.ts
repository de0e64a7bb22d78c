import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { type DefaultTheme, defineConfig, type MarkdownOptions } from "vitepress"

const docs = join(import.meta.dirname, "..")
const REPOSITORY = "https://github.com/sluice-rag/sluice"

/** The anchor that GitHub gives a heading, so that a link works there and here. */
const slugify = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
    .replaceAll(" ", "-")

/** Links that leave docs/ lead to the repository. A test checks that they exist there. */
const linkToRepository: MarkdownOptions["config"] = (markdown) => {
  markdown.core.ruler.push("repository", ({ env, tokens }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === "link_open" ? String(token.attrGet("href")) : ""
      if (!href.startsWith("../")) continue
      const path = relative(docs, join(docs, dirname(env.relativePath), href))
      if (path.startsWith("../")) token.attrSet("href", `${REPOSITORY}/blob/main/${path.slice(3)}`)
    }
  })
}

/** A page of a section, named by its first heading. */
const page = (path: string): DefaultTheme.SidebarItem => {
  const [, text = path] = /^# (.+)$/m.exec(readFileSync(join(docs, `${path}.md`), "utf8")) ?? []
  return {
    text: path.endsWith("/index") && !path.startsWith("start") ? "Overview" : text,
    link: `/${path.replace(/(?:^|\/)index$/, "/")}`
  }
}

const section = (text: string, folder: string, pages: ReadonlyArray<string>): DefaultTheme.SidebarItem => ({
  text,
  items: pages.map((name) => page(`${folder}/${name}`))
})

/** The pages that TypeDoc wrote, one for each entry of a package. */
const packagePages = readdirSync(join(docs, "reference/api"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".md") && path !== "index.md" && !path.includes("namespaces"))
  .map((path) => path.replace(/(?:\/index)?\.md$/, ""))
  .toSorted()
  .map((name) => ({ text: name, link: `/reference/api/${name}` }))

const decisions = readdirSync(join(docs, "decisions")).filter((name) => /^\d/.test(name))

export default defineConfig({
  title: "Sluice",
  description: "Ask your documents and get answers with a source for every sentence",
  base: process.env["DOCS_BASE"] ?? "/",
  head: [["link", { rel: "icon", type: "image/svg+xml", href: "/mark.svg" }]],
  rewrites: { "decisions/README.md": "decisions/index.md" },
  markdown: { anchor: { slugify }, config: linkToRepository },
  vite: { build: { chunkSizeWarningLimit: 3_000 } },
  themeConfig: {
    logo: { light: "/mark-light.svg", dark: "/mark-dark.svg" },
    search: { provider: "local" },
    outline: [2, 3],
    socialLinks: [{ icon: "github", link: REPOSITORY }],
    nav: [
      { text: "Start", link: "/start/", activeMatch: "^/start/" },
      { text: "Tutorials", link: "/tutorials/pipeline", activeMatch: "^/tutorials/" },
      { text: "How to", link: "/guides/", activeMatch: "^/guides/" },
      { text: "Reference", link: "/reference/", activeMatch: "^/reference/" },
      { text: "Explanation", link: "/explanation/answers", activeMatch: "^/explanation/" }
    ],
    sidebar: [
      section("Start", "start", ["index", "connect", "install"]),
      section("Tutorials", "tutorials", ["pipeline", "team", "film"]),
      section("How to", "guides", [
        "index",
        "documents",
        "library",
        "gateway",
        "ingest",
        "sources",
        "models",
        "local-models",
        "evaluation",
        "bundlers",
        "clients",
        "mcp",
        "server",
        "deploy",
        "operation",
        "accounts",
        "providers"
      ]),
      {
        text: "Reference",
        items: [
          ...["index", "configuration", "cli", "http", "errors", "gateways", "versions"].map((name) =>
            page(`reference/${name}`)
          ),
          { text: "Packages", link: "/reference/api/", collapsed: true, items: packagePages }
        ]
      },
      section("Explanation", "explanation", ["answers", "retrieval", "money", "store"]),
      section("Numbers and limits", "numbers", ["index", "limits", "retrieval", "formats"]),
      {
        text: "Project",
        items: [
          page("migration"),
          {
            text: "Decisions",
            link: "/decisions/",
            collapsed: true,
            items: decisions.map((name) => page(`decisions/${name.replace(/\.md$/, "")}`))
          }
        ]
      }
    ]
  }
})
