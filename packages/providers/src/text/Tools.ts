/** Tools of chat in the interface's form, which is OpenAI's, for dialects that write them differently. */
import { parseJson } from "@sluice/core/client"
import { Predicate } from "effect"
import type { Fields, InterfaceRequest } from "../protocol/Dialect.ts"
import { itemsAt, jsonAt, present, textAt } from "../protocol/JsonValues.ts"

/** The functions among the tools, whose `parameters` are a JSON Schema, and the tools in the vendor's own form. */
export const toolsOf = (asked: InterfaceRequest) => {
  const tools = itemsAt(asked, "tools")
  const isFunction = (tool: unknown) => textAt(tool, "type") === "function"
  const functions = tools.filter(isFunction).map((tool) => (jsonAt(tool, "function") ?? {}) as Fields)
  return { functions, own: tools.filter((tool) => !isFunction(tool)) }
}

/** Which tool has to be called: `auto`, `none`, `required`, or one by its name. */
export const toolChoiceOf = ({ tool_choice: choice }: InterfaceRequest) => ({
  mode: typeof choice === "string" ? choice : undefined,
  name: textAt(choice, "function", "name")
})

/** A call of a tool. `signature`: what Google's models need of it in the next request. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  /** JSON, or its start in a stream. */
  readonly arguments: string
  readonly signature?: string | undefined
}

/** A call in an earlier message. */
export interface CallPart {
  readonly type: "call"
  readonly id: string
  readonly name: string
  readonly input: Fields
  readonly signature: string | undefined
}

export const toolCallsOf = (message: unknown) =>
  itemsAt(message, "tool_calls").map((call): CallPart => {
    const input = parseJson(textAt(call, "function", "arguments") ?? "")
    return {
      type: "call",
      id: textAt(call, "id") ?? "",
      name: textAt(call, "function", "name") ?? "",
      input: Predicate.isObject(input) ? (input as Fields) : {},
      signature: textAt(call, "extra_content", "google", "thought_signature")
    }
  })

/** A call in the interface's form. Google's compatible endpoint has signatures at the same place. */
export const toolCallFields = ({ arguments: json, id, name, signature }: ToolCall): Fields =>
  present({
    id,
    type: "function",
    function: { name, arguments: json },
    extra_content: signature && { google: { thought_signature: signature } }
  })
