/** Reads what a question asks of a table: a count, a sum, an average, or the row with the most or the least. */
import { isChinese } from "@sluice/core/text"

export type TableOperation = "count" | "sum" | "average" | "highest" | "lowest"

/** A longer question is not about one column, and the patterns below are not linear. */
const MAX_CHARACTERS = 400

/** The words of each operation, in English, German and Chinese. The first that is found counts. */
const OPERATIONS: ReadonlyArray<readonly [operation: TableOperation, words: RegExp]> = [
  ["count", /^(?:how many|wie viele)\b|多少(?:行|条|个)|有几(?:行|条|个)/iu],
  ["average", /\b(?:average|mean|durchschnitt\w*|mittelwert)\b|平均值?/iu],
  ["sum", /\b(?:sum|total|summe|insgesamt)\b|总和|总计|合计|总共|一共/iu],
  [
    "highest",
    /\b(?:highest|largest|greatest|biggest|maximum|max|most|höchste\w*|größte\w*|meisten|maximale?\w*)\b|最(?:高|大|多|贵|长)/iu
  ],
  [
    "lowest",
    /\b(?:lowest|smallest|minimum|min|least|fewest|niedrigste\w*|kleinste\w*|wenigsten|minimale?\w*)\b|最(?:低|小|少|便宜|短)/iu
  ]
]

/** Words of a question about a table that name nothing in it. */
const GENERIC = new Set(
  (
    "what s which who whose is are was were has have does do did there in of the a an that this with and table file sheet list column row rows " +
    "entry entries record records line lines number value how many much altogether " +
    "was ist lautet beträgt sind welche welcher welches hat haben wie hoch groß viele der die das des dem den in im von spalte tabelle datei zeile zeilen einträge wert"
  ).split(" ")
)

/** The same in Chinese. */
const GENERIC_CHINESE = /哪一?个|哪些|多少|什么|是|的|有|在|里|中|行|条|个|列|表格?|文件|数据|和|？|\?/gu

export interface TableQuestion {
  readonly operation: TableOperation
  /** The words, in lower case, that have to be names of the table or its columns. In Chinese one text. */
  readonly names: ReadonlyArray<string>
  readonly chinese: boolean
}

/** Undefined if a question asks for nothing of this kind. */
export const tableQuestion = (question: string): TableQuestion | undefined => {
  const text = question.normalize("NFKC").trim()
  if (text.length > MAX_CHARACTERS) return undefined
  const found = OPERATIONS.find(([, words]) => words.test(text))
  if (found === undefined) return undefined
  const [operation, words] = found
  const rest = text.replace(words, " ")
  // Two operations are no operation on one column.
  if (OPERATIONS.some(([other, pattern]) => other !== operation && pattern.test(rest))) return undefined
  const chinese = isChinese(text)
  const names = (chinese ? rest.replace(GENERIC_CHINESE, " ") : rest)
    .toLowerCase()
    .split(/[^\p{L}\p{N}.]+/u)
    .map((word) => word.replace(/^\.+|(?<!\.)\.+$/g, ""))
    .filter((word) => word !== "" && !GENERIC.has(word))
  // “The sum of length and crew” is of two columns.
  return /\b(?:and|und|or|oder)\b/i.test(rest) ? undefined : { operation, names, chinese }
}

/** What shows that an answer may have to be calculated: the operations above, comparisons, orders, groups and absences. */
const CALCULATION =
  /\b(?:how (?:many|much)|than|before|after|since|between|until|each|every|per|never|nobody|none|no|without|first|last|earliest|latest|second|third|difference|together|median|percent\w*|\w+est)\b|\b(?:pro|je|jede\w*|mehr|weniger|vor|nach|seit|zwischen|ohne|nie|kein\w*|erste\w*|letzte\w*|\w+ste[nrs]?)\b|每|各|多少|几个|超过|以上|以下|以后|以前|之前|之后|之间|大于|小于|高于|低于|没有|第[一二三]|差/iu

/** Whether a chat model is asked for SQL, if a table was found. */
export const mayBeCalculated = (question: string): boolean => {
  const text = question.normalize("NFKC").trim().slice(0, MAX_CHARACTERS)
  return CALCULATION.test(text) || OPERATIONS.some(([, words]) => words.test(text))
}
