/** Parses a model's response while it is streamed: objects of cited sentences, or prose with `[n]` markers. */
import { readLenientJson } from "./LenientJson.ts"
import { makeProseReader, withoutMarkers } from "./ProseSentences.ts"
import {
  CITATION_NAMES,
  saysUnanswered,
  sentencesIn,
  textSoFar,
  type WrittenSentence
} from "./SentenceObjects.ts"

/** The answer if the passages do not answer the question. */
export const NOT_FOUND = "NOT_FOUND"

/** The text of a sentence that says that a part of the question is not answered, before the part's number. */
export const PART_NOT_FOUND = "PART_NOT_ANSWERED"

/** A sentence, or text of the next one so far. Text that no sentence follows is withdrawn. */
export type ParsedPart =
  | { readonly type: "sentence"; readonly sentence: WrittenSentence }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "withdrawn" }

export interface ResponseParser {
  readonly push: (text: string) => ReadonlyArray<ParsedPart>
  /** The rest, at the end of the response. */
  readonly end: () => ReadonlyArray<ParsedPart>
  /** Whether the model said that the passages do not answer. */
  readonly saysNotFound: () => boolean
}

/** The longest object or line, in characters. */
const MAX_LENGTH = 16_384

/** The beginning of an object, to the list or object of the sentences within it. Citations are no sentences. */
const WRAPPER = new RegExp(
  String.raw`^\{(?:\s*["'“](?!(?:text|sentence|claim)["'”])\w+["'”]\s*:\s*(?:true|false|null|-?\d+|"[^"]{0,200}")\s*,)*?\s*["'“](?!(?:${CITATION_NAMES.join("|")})["'”])\w+["'”]\s*:\s*(?:\[\s*(?=\{)|(?=\{))`
)

const OBJECT = /^\{\s*(?:["'“‘]|\w+\s*:|\})/
const OBJECT_IN_LINE = /\{\s*["'“](?=(?:text|sentence|sentences|answer|answered|claim|citations)["'”]\s*:)/
const THOUGHT = /^(?:<(?:think|thinking|thought|reasoning)>|\[THINK\]|◁think▷)/i
/** The end of a model's reasoning. Some models leave out its beginning. */
const THOUGHT_END = /<\/(?:think|thinking|thought|reasoning)>|\[\/THINK\]|◁\/think▷/i

/** A whole response without the reasoning before it. */
export const withoutThoughts = (response: string): string => response.split(THOUGHT_END).at(-1)!.trim()

/** The longest of these tags, in characters. */
const MAX_TAG = 12
/** Between objects, and around them. */
const STRAY =
  /^(?:\s+|`{3}[a-z]*\s*(?:\n|$)|<\/?(?:answer|response|output|final|result|tool_call|think|thinking|thought|reasoning)>|\[\s*(?=\{)|\[\s*\]|[\]},;]+)/i
/** What may become one of these with more text. */
const UNDECIDED = /^(?:<[a-z]*|◁[a-z]*|`{1,3}[a-z]*|\[[\sA-Z]*|\{\s*\w*|["'*]*N?O?T?_?F?O?U?N?D?)$/i
const SAYS_NOT_FOUND = /^["'*`[]*NOT_FOUND\b/i

/** Collects parts, and gives out the text of the next sentence as far as it is new. */
const makeOutput = () => {
  let shown = ""
  let parts: Array<ParsedPart> = []
  return {
    sentence: (sentence: WrittenSentence) => {
      parts.push({ type: "sentence", sentence })
      shown = ""
    },
    draft: (text: string) => {
      const goesOn = text !== "" && text.startsWith(shown)
      if (!goesOn && shown !== "") parts.push({ type: "withdrawn" })
      const known = goesOn ? shown.length : 0
      if (text.length > known) parts.push({ type: "text", text: text.slice(known) })
      shown = text
    },
    take: (): ReadonlyArray<ParsedPart> => {
      const taken = parts
      parts = []
      return taken
    }
  }
}

/** Prose before its first marker: a tag may still say that it was reasoning, or an object follow. */
const makeHeld = (emit: (sentences: ReadonlyArray<WrittenSentence>) => void) => {
  let held: Array<WrittenSentence> = []
  const flush = () => {
    emit(held)
    held = []
  }
  return {
    flush,
    drop: () => {
      held = []
    },
    add: (sentences: ReadonlyArray<WrittenSentence>) => {
      held.push(...sentences)
      if (held.some(({ citations }) => citations.length > 0)) flush()
    },
    texts: () => held.map(({ text }) => text)
  }
}

/** The text after the end of the reasoning. Undefined before it. */
const afterThought = (text: string): string | undefined => {
  const end = THOUGHT_END.exec(text)
  return end === null ? undefined : text.slice(end.index + end[0].length)
}

/** What is shown of an unfinished sentence. */
const draftOf = (text: string): string =>
  PART_NOT_FOUND.startsWith(text.slice(0, PART_NOT_FOUND.length)) ? "" : text

/** Where the first line ends, and where an object begins in it. Undefined if that needs more text. */
const endOfLine = (text: string, isFinal: boolean) => {
  const object = OBJECT_IN_LINE.exec(text)?.index
  const newline = text.indexOf("\n")
  const whole = isFinal || text.length > MAX_LENGTH ? text.length : undefined
  return { object, end: object ?? (newline >= 0 ? newline : whole) }
}

/**
 * Makes a parser of one response.
 *
 * **Details.** An object is a sentence, wherever it is: on a line of its own, in a list, in another object. After an object
 * that cannot be read, the next one is. Prose beside objects is ignored; without any object, it is the answer. Prose before
 * its first marker is held back until then.
 */
export const makeResponseParser = (): ResponseParser => {
  let pending = ""
  let thinking = false
  let notFound = false
  let hasObjects = false
  const prose = makeProseReader()
  const output = makeOutput()

  const emit = (sentences: ReadonlyArray<WrittenSentence>) => {
    for (const sentence of sentences) {
      notFound ||= SAYS_NOT_FOUND.test(sentence.text)
      if (!notFound) output.sentence(sentence)
    }
  }

  const held = makeHeld(emit)

  /** Takes one thing from the beginning of `pending`. False if that needs more text. */
  const take = (isFinal: boolean): boolean => {
    if (pending === "" || notFound) return false
    if (thinking) {
      const rest = afterThought(pending)
      thinking = rest === undefined
      pending = rest ?? pending.slice(-MAX_TAG)
      return !thinking
    }
    if (!isFinal && UNDECIDED.test(pending)) return false
    thinking = THOUGHT.test(pending)
    if (thinking) return true
    const stray = STRAY.exec(pending)
    if (stray !== null) {
      if (THOUGHT_END.test(stray[0])) held.drop()
      pending = pending.slice(stray[0].length)
      return true
    }
    if (SAYS_NOT_FOUND.test(pending)) {
      held.flush()
      notFound = true
      return false
    }
    return OBJECT.test(pending) ? takeObject(isFinal) : takeLine(isFinal)
  }

  const takeObject = (isFinal: boolean): boolean => {
    const wrapper = WRAPPER.exec(pending)
    if (wrapper !== null) {
      pending = pending.slice(wrapper[0].length)
      return true
    }
    const { end, isComplete, value } = readLenientJson(pending)
    if (!isComplete && !isFinal && pending.length <= MAX_LENGTH) {
      output.draft(draftOf(textSoFar(value)))
      return false
    }
    hasObjects = true
    held.drop()
    const sentences = sentencesIn(value)
    // A last sentence that was cut off proves nothing.
    emit(isComplete ? sentences : sentences.filter(({ citations }) => citations.length > 0))
    if (sentences.length === 0 && saysUnanswered(value)) notFound = true
    pending = isComplete ? pending.slice(end) : ""
    return true
  }

  const takeLine = (isFinal: boolean): boolean => {
    const { end, object } = endOfLine(pending, isFinal)
    if (end === undefined) {
      const texts = [...held.texts(), withoutMarkers(pending)]
      output.draft(hasObjects ? "" : texts.filter((text) => text !== "").join(" "))
      return false
    }
    const line = pending.slice(0, end)
    const rest = afterThought(line)
    pending = (rest ?? "") + pending.slice(end)
    if (rest !== undefined) held.drop()
    else if (object === undefined && !hasObjects) held.add(prose.line(line))
    return true
  }

  const drain = (isFinal: boolean): ReadonlyArray<ParsedPart> => {
    for (let hasMore = true; hasMore;) hasMore = take(isFinal)
    if (isFinal) {
      held.add(prose.line(""))
      held.flush()
    }
    if (isFinal || notFound || thinking) output.draft("")
    return output.take()
  }

  return {
    push: (text) => {
      // Later text is ignored.
      if (notFound) return []
      pending += text
      return drain(false)
    },
    end: () => drain(true),
    saysNotFound: () => notFound
  }
}
