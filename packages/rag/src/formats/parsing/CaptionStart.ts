/**
 * Recognizes the labels of captions on PDF pages: "Figure 3:", "Fig. 2.1 –", "TABLE IV", "图 3-1", "Abbildung 5.". Formats
 * with known paragraphs use `Label.ts`.
 */

export interface CaptionStart {
  readonly kind: "figure" | "table"
  /** Undefined if a colon follows the word: "Figure: The gates". */
  readonly number: string | undefined
  /** Characters of the label. */
  readonly length: number
  /** As written: `Fig.`, `Tabelle`. */
  readonly word: string
  /** What follows the label: a delimiter (`marked`), nothing (`alone`), or words (`bare`); or it has no number. */
  readonly sign: "marked" | "alone" | "bare" | "unnumbered"
}

const LATIN_FIGURE =
  "figures?|figs?\\.?|fig\\.|algorithm|listing|scheme|chart|plate|exhibit|diagram|graph|illustration|map|photo|image|" +
  "abbildung|abb\\.|bild|grafik|schaubild|diagramm|figura|gráfico|ilustración|graphique|schéma|afbeelding|figuur|rysunek|rys\\.|kuva|obrázek|obr\\.|" +
  "рисунок|рис\\.|схема|εικόνα|şekil|hình"
const LATIN_TABLE =
  "tables?|tab\\.|tabelle|tableau|tabla|cuadro|tabela|quadro|tabella|tabel|tabell|taulukko|tabulka|таблица|табл\\.|πίνακας|tablo|bảng"
const CJK_FIGURE = "图表|圖表|图|圖|図|그림"
const CJK_TABLE = "表格|表|표"
const NUMBER =
  "(?:[A-Z]{1,2}[.-]?)?\\d{1,3}(?:[.\\-–‑]\\d{1,3}){0,3}[a-z]?|[IVXLC]{1,6}|[A-Z](?:\\.\\d{1,3})+"

const LATIN = new RegExp(
  `^(?:(?:supplementary|supplemental|supporting|extended data|online|appendix|anhang)\\s+)?(?:(${LATIN_FIGURE})|(${LATIN_TABLE}))\\s*(${NUMBER})(?![\\p{L}\\p{N}])`,
  "iu"
)
const CJK = new RegExp(`^(?:(${CJK_FIGURE})|(${CJK_TABLE}))\\s*(${NUMBER})(?![0-9A-Za-z])`, "u")
/** Separates the number from the title. */
const DELIMITER =
  /^\s*(?:\(?(?:cont(?:inued|['’]?d|\.)?|fortsetzung|suite|continuación|续|續)\s*(?:[.:)）]|$)|（[续續]|[:：|│．。、]|\.(?=\s|$)|\)\s*[:.]?|[.:]?\s*[–—]|\s-\s)/iu
const CJK_BLANK = /^[\s\u3000]+\S/u
/** The rest of Chinese and Japanese sentences that begin with "图3". */
const CJK_SENTENCE =
  /^[\s\u3000]*(?:所示|显示|顯示|给出|給出|展示|表明|说明|說明|描述|列出|中|是|为|為|和|与|與|に|は|を|が)/u
/** Dot leaders to a page number, in lists of figures. */
const LEADERS = /(?<!\.\s?)(?:\.\s?){4,}\s*(?:\d+\s*)?$|(?<!…)…{2,}\s*(?:\d+\s*)?$/u

/** Words of captions without a number. "Photo:" and "Map:" also start credits and lists. */
const UNNUMBERED = new RegExp(
  `^(?:(figure|fig\\.?|chart|diagram|abbildung|abb\\.|diagramm|schaubild|figura|рисунок|${CJK_FIGURE})|(table|tabelle|tableau|tabla|tabela|tabella|таблица|${CJK_TABLE}))\\s?[:：](?=\\s*\\S)`,
  "iu"
)

const unnumbered = (text: string): CaptionStart | undefined => {
  const match = /^\p{Ll}/u.test(text) ? null : UNNUMBERED.exec(text)
  if (match === null) return undefined
  const word = match[1] ?? match[2]!
  const kind = match[1] === undefined ? "table" : "figure"
  return { kind, number: undefined, length: match[0].length, word, sign: "unnumbered" }
}

/** Characters after a label in which its delimiter is searched, and at the end of a text in which leaders are. */
const END = 200

/** The caption label at the start of `text`. */
export const captionStart = (text: string): CaptionStart | undefined => {
  if (LEADERS.test(text.slice(-END))) return undefined
  const latin = LATIN.exec(text)
  const cjk = latin === null ? CJK.exec(text) : null
  const match = latin ?? cjk
  if (match === null) return unnumbered(text)
  const [, figure, table, number] = match
  // Labels are capitalized: not "map I", "image a"
  if (latin !== null && /^\p{Ll}/u.test(text)) return undefined
  if (latin !== null && !/\d/.test(number!) && number !== number!.toUpperCase()) return undefined
  const after = text.slice(match[0].length, match[0].length + END)
  if (cjk !== null && CJK_SENTENCE.test(after)) return undefined
  const sign =
    text.slice(match[0].length).trim() === ""
      ? "alone"
      : DELIMITER.test(after) || (cjk !== null && CJK_BLANK.test(after))
        ? "marked"
        : "bare"
  return {
    kind: figure === undefined ? "table" : "figure",
    number: number!,
    length: match[0].length,
    word: (figure ?? table)!,
    sign
  }
}
