/**
 * Collects what the embedded reader reads: the passages that the default retrieval finds for labelled questions. `learn.ts` and
 * `measure.ts` read its file.
 *
 * ```sh
 * node --conditions=@sluice/source scripts/reader/collect.ts --data DIR --to FILE [--only SET]
 * ```
 *
 * DIR has public sets as they are in their repositories (test/qa/strangers/README.md names them and their licences), the
 * documents of test/qa/strangers in `strangers/`, `second/` and `third/`, and six papers in `figures/`. What is missing is left out.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { NodeServices } from "@effect/platform-node"
import * as Embedded from "@sluice/embedded"
import { Filter, Library, type RetrieveOptions } from "@sluice/rag"
import { Effect, FileSystem, Layer } from "effect"
import { CLOSEST } from "../../packages/rag/src/answering/ClosestPassages.ts"
import { readerPassage, sourceOf } from "../../packages/rag/src/answering/Evidence.ts"
import { flag } from "../flags.ts"
import { readJsonLines, toJsonLines } from "../jsonLines.ts"
import type { Example, Gold } from "./Example.ts"

const data = flag("--data")
const to = flag("--to", "reader-examples.jsonl")
const only = flag("--only")
const root = join(import.meta.dirname, "../..")

/** Passages to collect: the three that are read, and those that follow if one is taken out. */
const KEEP = 6

/** Of these sets the passages are collected too that the closest ones are chosen from: much for a set that is learnt. */
const WITH_FURTHER = new Set(["strangers", "second", "third", "paired-fr", "paired-en"])

interface Question extends Pick<Example, "id" | "question" | "kind" | "sealed"> {
  readonly gold: Gold
  /** Only this document is searched. */
  readonly within?: string
}

interface Collection {
  readonly set: string
  readonly language: string
  readonly folders: ReadonlyArray<string>
  readonly files: ReadonlyMap<string, string>
  readonly questions: ReadonlyArray<Question>
}

const read = (path: string): string => readFileSync(path, "utf8")

interface Squad {
  readonly data: ReadonlyArray<{
    readonly title?: string
    readonly paragraphs: ReadonlyArray<{
      readonly context: string
      readonly qas: ReadonlyArray<{
        readonly id: string
        readonly question: string
        readonly is_impossible?: boolean
        readonly answers: ReadonlyArray<{ readonly answer_start: number; readonly text: string }>
      }>
    }>
  }>
}

/** The articles of a set in SQuAD's form as Markdown files. `each` is how many questions are passed over. */
const squad = (set: string, language: string, path: string, each: number): ReadonlyArray<Collection> => {
  if (!existsSync(join(data, path))) return []
  const files = new Map<string, string>()
  const questions: Array<Question> = []
  let count = 0
  for (const [i, { paragraphs, title }] of (JSON.parse(read(join(data, path))) as Squad).data.entries()) {
    const name = `${i}.md`
    let text = `# ${(title ?? `${i}`).replaceAll("_", " ")}\n`
    for (const { context, qas } of paragraphs) {
      const at = text.length + 1
      text += `\n${context}\n`
      for (const { answers, id, is_impossible, question } of qas) {
        if (count++ % each !== 0) continue
        const starts = is_impossible === true ? [] : answers.map(({ answer_start }) => at + answer_start)
        const texts = is_impossible === true ? [] : [...new Set(answers.map((answer) => answer.text))]
        questions.push({
          id,
          question,
          kind: starts.length === 0 ? "none" : "keyword",
          gold: { path: name, starts, texts }
        })
      }
    }
    files.set(name, text)
  }
  return [{ set, language, folders: [], files, questions }]
}

/** Questions that name what the answer contains. */
interface Written {
  readonly id: string
  readonly kind: string
  readonly language?: string
  readonly question: string
  readonly document?: string
  readonly contains?: ReadonlyArray<string>
  readonly sealed?: boolean
}

const written = (set: string, path: string, folders: ReadonlyArray<string>): ReadonlyArray<Collection> => {
  if (!existsSync(join(root, path))) return []
  const all = readJsonLines<Written>(join(root, path))
  const languages = [...new Set(all.map(({ language = "en" }) => language))]
  return languages.map((language) => ({
    set,
    language,
    folders: folders.filter((folder) => existsSync(folder)),
    files: new Map(),
    questions: all
      .filter((one) => (one.language ?? "en") === language)
      .map(({ contains = [], document = "", id, kind, question, sealed = false }) => ({
        id,
        question,
        kind,
        sealed,
        gold: { path: document, starts: [], texts: contains }
      }))
  }))
}

/** Look-ups in single tables of WikiTableQuestions: those whose answer is one cell. */
const tables = (count: number): ReadonlyArray<Collection> => {
  const path = join(data, "tables/data/training.tsv")
  if (!existsSync(path)) return []
  const files = new Map<string, string>()
  const questions: Array<Question> = []
  for (const line of read(path).split("\n").slice(1)) {
    const [id = "", question = "", context = "", answer = ""] = line.split("\t")
    const file = join(data, "tables", context)
    if (questions.length === count || !existsSync(file)) break
    const name = context.replaceAll("/", "-")
    const text = read(file)
    if (text.split(`"${answer}"`).length !== 2) continue
    files.set(name, text)
    questions.push({
      id,
      question,
      kind: "table",
      within: name,
      gold: { path: name, starts: [], texts: [answer] }
    })
  }
  return [{ set: "tables", language: "en", folders: [], files, questions }]
}

const collections: ReadonlyArray<Collection> = [
  ...written("strangers", "test/qa/strangers/questions.jsonl", [join(data, "strangers")]),
  ...written("second", "test/qa/strangers/second.jsonl", [join(data, "second")]),
  ...written(
    "third",
    "test/qa/strangers/third.jsonl",
    ["strangers", "second", "third"].map((folder) => join(data, folder))
  ),
  ...["fr", "en"].flatMap((language) =>
    written(`paired-${language}`, `test/qa/paired/${language}.jsonl`, [
      join(root, "test/qa/paired", language)
    ])
  ),
  ...written("pinned", "test/qa/questions.jsonl", [
    join(root, "apps/demo-server/samples"),
    join(data, "figures")
  ]),
  ...written("starters", "test/qa/plain/starters.jsonl", [join(root, "apps/demo-server/samples")]),
  ...["en", "de", "es", "zh"].flatMap((language) =>
    squad("xquad", language, `xquad/xquad.${language}.json`, 1)
  ),
  ...squad("squad", "en", "squad/dev-v2.0.json", 2),
  ...squad("cmrc", "zh", "cmrc/cmrc2018_dev.json", 2),
  ...squad("piaf", "fr", "piaf/piaf-v1.0.json", 2),
  ...tables(500)
]

const collect = Effect.fn("collect")(function* ({ files, folders, language, questions, set }: Collection) {
  const system = yield* FileSystem.FileSystem
  const folder = yield* system.makeTempDirectoryScoped()
  const library = yield* Library.open(join(folder, "library"))
  const documents = join(folder, "documents")
  for (const [name, text] of files) {
    mkdirSync(dirname(join(documents, name)), { recursive: true })
    writeFileSync(join(documents, name), text)
  }
  for (const each of files.size > 0 ? [documents] : folders) yield* library.ingest(each)
  let done = 0
  for (const { within, ...question } of questions) {
    const retrieve = (options: RetrieveOptions) =>
      Effect.map(
        library.retrieve(question.question, {
          ...options,
          ...(within !== undefined && { filter: Filter.equals("path", within) })
        }),
        ({ kept }) =>
          kept.map((passage) => ({
            ...readerPassage(sourceOf(passage)),
            path: passage.document.path,
            start: passage.start
          }))
      )
    const passages = yield* retrieve({ keep: KEEP })
    const further = WITH_FURTHER.has(set) ? yield* retrieve({ ...CLOSEST, keep: CLOSEST.recall }) : []
    const example: Example = {
      set,
      language,
      ...question,
      passages,
      ...(further.length > 0 && { further })
    }
    appendFileSync(to, toJsonLines([example]))
    if (++done % 200 === 0) console.log(set, language, done)
  }
  console.log(set, language, questions.length, "questions,", (yield* library.documents).length, "documents")
})

writeFileSync(to, "", { flag: only === "" ? "w" : "a" })
await Effect.runPromise(
  Effect.forEach(
    collections.filter(({ set }) => only === "" || set === only),
    (one) => Effect.scoped(collect(one))
  ).pipe(Effect.provide(Layer.merge(Embedded.layer, NodeServices.layer)))
)
