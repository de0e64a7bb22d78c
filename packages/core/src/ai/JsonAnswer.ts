/** JSON objects from a chat model without a response format: the prompt, and the extraction. */
import { Result, type Schema } from "effect"
import * as LanguageModel from "effect/ai/LanguageModel"
import type { ChatMessage } from "../contract/Chat.ts"
import { parseJson } from "../contract/Fields.ts"
import { withoutThoughts } from "../readers/ResponseParser.ts"

/** Adds the instruction to answer with one JSON object of a schema. Fails if the schema has no JSON form. */
export const askForJson = (
  messages: ReadonlyArray<ChatMessage>,
  { objectName, schema }: { readonly objectName: string; readonly schema: Schema.Top }
): Result.Result<ReadonlyArray<ChatMessage>, string> =>
  Result.try({
    try: () => {
      const { jsonSchema } = LanguageModel.defaultCodecTransformer(schema)
      const request = `Answer with one JSON object, “${objectName}”, and with nothing besides: no explanation, no code fence. It has to be valid against this JSON Schema:\n${JSON.stringify(jsonSchema)}`
      const [first, ...rest] = messages
      // Some models take one system message only, and it has to be the first.
      return first?.role === "system" && typeof first.content === "string"
        ? [{ role: "system", content: `${first.content}\n\n${request}` }, ...rest]
        : [{ role: "system", content: request }, ...messages]
    },
    catch: (cause) => (cause instanceof Error ? cause.message : String(cause))
  })

/** The JSON object in an answer: alone, in a code fence, or between words. Otherwise the answer itself. */
export const jsonOf = (answer: string): string => {
  const text = withoutThoughts(answer)
  const fenced = text.split("```").map((part) => part.replace(/^json/, ""))
  const within = text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)
  return [answer, text, ...fenced, within].find((json) => parseJson(json) !== undefined) ?? text
}
