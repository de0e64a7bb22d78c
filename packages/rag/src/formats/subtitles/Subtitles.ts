/** Parses subtitles: SubRip and WebVTT. */
import { Effect } from "effect"
import { type Block, type Parsed, TEXT_ONLY } from "../../document/Document.ts"
import type { Locator } from "../../document/Locator.ts"
import { type DocumentFormat, parseError } from "../parsing/DocumentFormat.ts"
import { decodeFile } from "../parsing/TextDecoding.ts"

interface Cue {
  /** Seconds. */
  readonly from: number
  readonly to: number
  readonly text: string
}

/** Hours are optional in WebVTT. */
const TIMES =
  /^\s*(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})\s*-->\s*(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})/

/** Seconds of silence that end a paragraph, and characters after which the end of a sentence does. */
const PAUSE = 4
const LONG = 400

/** `00:01:20` */
const timeText = (seconds: number): string =>
  [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds) % 60]
    .map((part) => String(part).padStart(2, "0"))
    .join(":")

const secondsOf = (parts: ReadonlyArray<string | undefined>): number => {
  const [hours, minutes, seconds, fraction] = parts.map((part) => Number(part ?? 0))
  return hours! * 3600 + minutes! * 60 + seconds! + fraction! / 1000
}

/** The words of a line: tags and positions are left out, and a voice is the speaker's name. */
const wordsOf = (line: string): string =>
  line
    .replace(/<v(?:\.[^\s<>]*)?\s+([^>]{1,100})>/g, "$1: ")
    .replace(/<\/?[a-z][^<>]{0,200}>|<[\d:.]{5,12}>|\{\\[^{}]{0,200}\}/gi, "")
    .replace(
      /&(amp|lt|gt|nbsp|lrm|rlm);/g,
      (_, name: string) => ({ amp: "&", lt: "<", gt: ">" })[name] ?? " "
    )
    .replace(/\s+/g, " ")
    .trim()

const cuesOf = (text: string): ReadonlyArray<Cue> => {
  const cues: Array<Cue> = []
  let last: { readonly to: number; readonly lines: ReadonlyArray<string> } = { to: -1, lines: [] }
  for (const block of text.replace(/\r\n?/g, "\n").split(/\n[ \t]*\n/)) {
    const lines = block.split("\n")
    const at = lines.findIndex((line) => TIMES.test(line))
    if (at === -1) continue
    const parts = TIMES.exec(lines[at]!)!.slice(1)
    const [from, to] = [secondsOf(parts.slice(0, 4)), secondsOf(parts.slice(4))]
    const shown = lines
      .slice(at + 1)
      .map(wordsOf)
      .filter((words) => words !== "")
    // Captions that roll up show the line before again.
    const isNext = from <= last.to
    const text = shown.filter((words) => !isNext || !last.lines.includes(words)).join(" ")
    if (text !== "") cues.push({ from, to, text })
    last = { to, lines: shown }
  }
  return cues
}

/** Paragraphs of cues, each on a line of its own with its time as the place. */
const parseCues = (cues: ReadonlyArray<Cue>): Parsed => {
  const pieces: Array<string> = []
  const blocks: Array<Block> = []
  const locators: Array<Locator> = []
  let length = 0
  let start = 0
  for (const [i, { from, text }] of cues.entries()) {
    const before = cues[i - 1]
    const isNew =
      before === undefined ||
      from - before.to > PAUSE ||
      (length - start > LONG && /[.!?…。？！]["'”»)]*$/.test(before.text))
    if (before !== undefined) pieces.push(isNew ? "\n\n" : "\n")
    length += before === undefined ? 0 : isNew ? 2 : 1
    if (isNew) start = length
    else blocks.pop()
    pieces.push(text)
    locators.push({ start: length, end: length + text.length, label: timeText(from) })
    length += text.length
    blocks.push({ kind: "paragraph", start, end: length })
  }
  return { ...TEXT_ONLY, format: "subtitles", title: "", text: pieces.join(""), blocks, locators }
}

export const subtitlesFormat: DocumentFormat = {
  id: "subtitles",
  label: "Subtitles",
  extensions: ["srt", "vtt"],
  mediaTypes: ["text/plain; charset=utf-8"],
  parse: Effect.fnUntraced(function* (file) {
    const cues = cuesOf((yield* decodeFile(file, "Subtitles")).toWellFormed())
    if (cues.length > 0) return parseCues(cues)
    return yield* parseError(file.path, "Malformed", "these are no subtitles: no line has times.")
  })
}
