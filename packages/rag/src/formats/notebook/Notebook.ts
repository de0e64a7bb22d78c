/** Parses Jupyter notebooks. */
import { Effect, Schema } from "effect"
import { parseHtml } from "../html/Html.ts"
import { parseRendered } from "../markdown/RenderedMarkdown.ts"
import { type DocumentFormat, parseError } from "../parsing/DocumentFormat.ts"
import { topHeading } from "../parsing/DraftBlock.ts"
import { type DocumentPart, joinDocuments } from "../parsing/JoinDocuments.ts"
import { loadPictures } from "../parsing/Pictures.ts"
import { decodeFile } from "../parsing/TextDecoding.ts"
import { parsePlainText } from "../text/PlainText.ts"

/** Notebooks store a text as one string or by lines. */
const Lines = Schema.Union([Schema.String, Schema.Array(Schema.String)])
const Output = Schema.Struct({
  text: Schema.optionalKey(Lines),
  data: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
})
const Cell = Schema.Struct({
  cell_type: Schema.String,
  source: Schema.optionalKey(Lines),
  /** The source of code in version 3. */
  input: Schema.optionalKey(Lines),
  /** Of a heading, in version 3. */
  level: Schema.optionalKey(Schema.Finite),
  outputs: Schema.optionalKey(Schema.Array(Output))
})
const Notebook = Schema.fromJsonString(
  Schema.Struct({
    cells: Schema.optionalKey(Schema.Array(Cell)),
    worksheets: Schema.optionalKey(Schema.Array(Schema.Struct({ cells: Schema.Array(Cell) })))
  })
)

const isLines = Schema.is(Lines)
const textOf = (lines: unknown): string =>
  isLines(lines) ? (typeof lines === "string" ? lines : lines.join("")).toWellFormed() : ""

/** Colours of terminals. */
// oxlint-disable-next-line no-control-regex
const withoutColours = (text: string): string => text.replace(/\u001B\[[\d;]*m/g, "")

const parseOutput = ({ data = {}, text }: typeof Output.Type): DocumentPart["parsed"] => {
  const html = textOf(data["text/html"])
  const png = textOf(data["image/png"]).replace(/\s+/g, "")
  const words = textOf(data["text/plain"])
  // The plain text of a picture is the name of its class
  if (png !== "") return parseHtml(`<img alt="Output" src="data:image/png;base64,${png}">`)
  if (/<table/i.test(html)) return parseHtml(html)
  const markdown = textOf(data["text/markdown"])
  return markdown === ""
    ? parsePlainText(withoutColours(textOf(text) || words).trimEnd(), "code")
    : parseRendered(markdown)
}

const parseCell = (cell: typeof Cell.Type): ReadonlyArray<DocumentPart["parsed"]> => {
  const source = textOf(cell.source ?? cell.input)
  switch (cell.cell_type) {
    case "markdown":
      return [parseRendered(source)]
    case "heading":
      return [parseRendered(`${"#".repeat(Math.min(6, Math.max(1, cell.level ?? 1)))} ${source}`)]
    case "code":
      return [parsePlainText(source, "code"), ...(cell.outputs ?? []).map(parseOutput)]
    default:
      return [parsePlainText(source, "paragraph")]
  }
}

/** The cells of a notebook: Markdown as text, code, and its output with tables and pictures. */
export const notebookFormat: DocumentFormat = {
  id: "notebook",
  label: "Notebook",
  extensions: ["ipynb"],
  mediaTypes: ["application/x-ipynb+json"],
  parse: Effect.fnUntraced(function* (file) {
    const text = yield* decodeFile(file, "Notebook")
    const notebook = yield* Schema.decodeUnknownEffect(Notebook)(text).pipe(
      Effect.mapError((cause) =>
        parseError(file.path, "Malformed", "this is no notebook. Save it again in Jupyter.", cause)
      )
    )
    const cells = notebook.cells ?? notebook.worksheets?.flatMap((sheet) => sheet.cells) ?? []
    const parts = cells.flatMap((cell, at) =>
      parseCell(cell)
        .filter(({ blocks }) => blocks.length > 0)
        .map((parsed): DocumentPart => ({ label: `cell ${at + 1}`, parsed }))
    )
    const joined = joinDocuments({ format: "notebook", title: "" }, parts)
    return yield* loadPictures({ ...joined, title: topHeading(joined.blocks) }, file.picture)
  }),
  showsPictures: true
}
