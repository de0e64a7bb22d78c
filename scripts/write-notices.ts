/**
 * Writes the NOTICE of each published package: the licence texts of all production packages that it installs or bundles.
 * Run it after a change of dependencies: `npm run -s notices`. `test/notices.test.ts` checks that they are current.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

const root = join(import.meta.dirname, "..")

export const PUBLISHED = [
  "packages/core",
  "packages/embedded",
  "packages/providers",
  "packages/rag",
  "packages/transformers",
  "apps/demo-server"
]

/** Packages that the published code contains, although they are not installed with it. */
const BUNDLED: Readonly<Record<string, ReadonlyArray<string>>> = {
  "packages/rag": ["@lancedb/lancedb"],
  "apps/demo-server": [
    "@fontsource-variable/instrument-sans",
    "@fontsource-variable/newsreader",
    "@preact/signals",
    "eventsource-parser",
    "preact"
  ]
}

/** Code inside of a package that has another licence than the package: what it is, and the licence's texts. */
const INSIDE: Readonly<Record<string, { readonly about: string; readonly texts: ReadonlyArray<string> }>> = {
  "h264-mp4-encoder": {
    about:
      "It contains libmp4v2 (https://github.com/sergiomb2/libmp4v2), under the Mozilla Public License 1.1, whose text\nfollows. The source is at https://github.com/TrevorSundberg/h264-mp4-encoder. It also contains minih264, which is in the\npublic domain.",
    texts: ["MPL-1.1"]
  },
  sharp: {
    about:
      "Its packages @img/sharp-libvips-* contain libvips (https://github.com/libvips/libvips), under the GNU Lesser General\nPublic License 3.0 or later, as a shared library that can be replaced. Its source, and that of its dependencies, is at\nhttps://github.com/lovell/sharp-libvips. The texts of that license and of the GNU General Public License 3.0, which it\nrefers to, follow.",
    texts: ["LGPL-3.0", "GPL-3.0"]
  }
}

const insideOf = (name: string): ReadonlyArray<string> => {
  const { about, texts = [] } = INSIDE[name] ?? {}
  const read = (id: string) => readFileSync(join(root, "scripts/licenses", `${id}.txt`), "utf8").trim()
  return about === undefined ? [] : [about, ...texts.map(read)]
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
  /** Of a build for one platform, which has the license of its package. */
  readonly os?: ReadonlyArray<string>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest

/** The folder of a package that another one imports; undefined if it is not installed. */
const folderOf = (name: string, from: string): string | undefined => {
  const folder = join(from, "node_modules", name)
  if (existsSync(join(folder, "package.json"))) return folder
  return from === root || dirname(from) === from ? undefined : folderOf(name, dirname(from))
}

/** The folders of all production packages. Our own packages have a NOTICE of their own. */
const closure = (folder: string, found: Map<string, Manifest>) => {
  const { dependencies, optionalDependencies, peerDependencies } = manifestOf(folder)
  const bundled = BUNDLED[folder.slice(root.length + 1)] ?? []
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
  for (const name of [...names, ...bundled]) {
    const at = folderOf(name, folder)
    if (at === undefined || found.has(at) || /^@(?:types|sluice)\//.test(name)) continue
    const manifest = manifestOf(at)
    // Overrides put an empty package in place of an unused one.
    if (manifest.os?.length === 1 || manifest.name === "empty-npm-package") continue
    found.set(at, manifest)
    closure(at, found)
  }
  return found
}

const LICENCE = /^(?:licen[cs]e|copying|notice|ofl|copyright)(?:[.-].*)?$/i

const textsOf = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder)
    .filter((file) => LICENCE.test(file) && !/\.(?:js|ts|json)$/.test(file))
    .toSorted()
    .map((file) => readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim())

/** The NOTICE of a published package. */
export const noticeOf = (folder: string): string => {
  const packages = [...closure(join(root, folder), new Map())].toSorted(([, a], [, b]) =>
    `${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1
  )
  /** Packages with the same text share it. */
  const byText = new Map<string, Array<string>>()
  for (const [at, { license = "see its homepage", name, version }] of packages) {
    const text = [...textsOf(at), ...insideOf(name)].join("\n\n")
    const heading = `${name} ${version} (${license})`
    byText.set(text, [...(byText.get(text) ?? []), heading])
  }
  const entries = [...byText].map(([text, names]) =>
    [...new Set(names), ...(text === "" ? [] : ["", text])].join("\n")
  )
  const title = `${manifestOf(join(root, folder)).name} is MIT licensed: see LICENSE. The packages that it uses:`
  return [title, ...entries].join(`\n\n${"-".repeat(80)}\n\n`) + "\n"
}

if (import.meta.main) {
  for (const folder of PUBLISHED) writeFileSync(join(root, folder, "NOTICE"), noticeOf(folder))
}
