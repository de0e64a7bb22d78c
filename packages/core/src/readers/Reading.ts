/** One response of a model, read while it is streamed. */
import type { ChatEnd, ChatPart } from "../gateway/Gateway.ts"
import type { NotReadReason } from "../models/NotRead.ts"
import type { CitedSentence, ReaderPart, ReaderPassage } from "../models/Reader.ts"
import { comparableText } from "./ComparableText.ts"
import { groundSentence } from "./GroundedSentence.ts"
import { makeResponseParser, PART_NOT_FOUND, type ParsedPart } from "./ResponseParser.ts"
import type { WrittenSentence } from "./SentenceObjects.ts"
import { saysNotFound, saysRefusal } from "./SpokenOutcome.ts"

/** How a response ended. */
interface ReadingResult {
  readonly fault: NotReadReason | undefined
  readonly text: string
  /** The model's quotes that are in no passage. */
  readonly wrong: ReadonlyArray<string>
  /** Sentences without a quote that is in a passage, for the caller to count. */
  readonly unproved: ReadonlyArray<CitedSentence>
  /** Parts of the question that the model said are not answered, from 0. */
  readonly unanswered: ReadonlyArray<number>
  readonly hasSentences: boolean
  readonly tokens: number
}

/** The values of `finish_reason` of a response that was ended, in all dialects. */
const ENDED: ReadonlyArray<readonly [values: RegExp, reason: NotReadReason]> = [
  [/^(?:length|max_tokens|max_output_tokens|model_length)$/i, "truncated"],
  [/^(?:content.filter(?:ed)?|safety|recitation|prohibited_content|guardrail_intervened)$/i, "filtered"],
  [/^refusal$/i, "refused"]
]

const UNANSWERED_PART = new RegExp(`${PART_NOT_FOUND}\\W*(\\d+)`)

/** Characters of the response that are kept for a repair. */
const KEPT = 16_384

/** Whether the part has a refusal in its own field, as OpenAI's models write it. */
const isRefusal = ({ extra }: Extract<ChatPart, { type: "text" }>): boolean => {
  const choices = extra?.["choices"]
  const [choice] = (Array.isArray(choices) ? choices : []) as ReadonlyArray<{
    readonly [part: string]: { readonly refusal?: unknown } | undefined
  }>
  const refusal = choice?.["delta"]?.refusal ?? choice?.["message"]?.refusal
  return typeof refusal === "string" && refusal !== ""
}

/** All tokens of a response: as the gateway states them, or else the sum of its counts. */
export const totalTokensOf = ({ completionTokens, promptTokens, totalTokens }: ChatEnd): number =>
  totalTokens ?? promptTokens + completionTokens

export const makeReading = (passages: ReadonlyArray<ReaderPassage>) => {
  const parser = makeResponseParser()
  const known = new Set<string>()
  const unproved: Array<CitedSentence> = []
  const wrong: Array<string> = []
  const unanswered = new Set<number>()
  let text = ""
  let ended: NotReadReason | undefined
  let tokens = 0
  let hasSentences = false
  let isNotFound = false
  let isRefused = false

  const ground = (written: WrittenSentence): ReadonlyArray<ReaderPart> => {
    const withdrawn: ReadonlyArray<ReaderPart> = [{ type: "withdrawn" }]
    const part = UNANSWERED_PART.exec(written.text)?.[1]
    if (part !== undefined) {
      unanswered.add(Number(part) - 1)
      isNotFound = true
      return withdrawn
    }
    const key = comparableText(written.text).text.trim()
    if (known.has(key)) return withdrawn
    known.add(key)
    const grounded = groundSentence(written, passages)
    const isCited = written.citations.length > 0 && grounded.isProved
    if (!isCited && written.citations.every(({ quote }) => quote === undefined)) {
      const notFound = saysNotFound(written.text)
      const refused = !notFound && saysRefusal(written.text)
      isNotFound ||= notFound
      isRefused ||= refused
      if (notFound || refused) return withdrawn
    }
    wrong.push(...grounded.wrong)
    if (grounded.isProved) hasSentences = true
    else unproved.push(grounded.sentence)
    return grounded.isProved ? [grounded.sentence] : withdrawn
  }

  const toParts = (parsed: ReadonlyArray<ParsedPart>): ReadonlyArray<ReaderPart> =>
    parsed.flatMap((part) => (part.type === "sentence" ? ground(part.sentence) : [part]))

  return {
    push: (part: ChatPart): ReadonlyArray<ReaderPart> => {
      if (part.type === "end") {
        ended = ENDED.find(([values]) => values.test(part.finishReason ?? ""))?.[1]
        tokens = totalTokensOf(part)
        return []
      }
      isRefused ||= isRefusal(part)
      if (text.length < KEPT) text += part.text
      return toParts(parser.push(part.text))
    },
    end: (): readonly [ReadonlyArray<ReaderPart>, ReadingResult] => {
      const parts = toParts(parser.end())
      const isSilent = !hasSentences && !parser.saysNotFound()
      const spoken: NotReadReason | undefined = isRefused
        ? "refused"
        : isNotFound
          ? undefined
          : wrong.length > 0
            ? "unproven"
            : "protocol"
      const fault = ended ?? (isSilent ? spoken : undefined)
      return [parts, { fault, text, wrong, unproved, unanswered: [...unanswered], hasSentences, tokens }]
    }
  }
}
