/** A model that names the colour of the first pixel of each PNG. */
import { inflateSync } from "node:zlib"
import { type Behaviour, json } from "./LoopbackGateway.ts"

interface Asked {
  readonly messages: ReadonlyArray<{
    readonly content: ReadonlyArray<
      { readonly type: "text" } | { readonly type: "image_url"; readonly image_url: { readonly url: string } }
    >
  }>
}

export const colourModel: Behaviour = ({ body }, response) => {
  const { messages } = body as unknown as Asked
  const parts = messages.flatMap(({ content }) => content)
  const colours = parts.flatMap((part) => (part.type === "image_url" ? [colourOf(part.image_url.url)] : []))
  json(response, {
    choices: [{ message: { content: `I see ${colours.join(", then ")}.` }, finish_reason: "stop" }],
    usage: { prompt_tokens: 85 * colours.length, completion_tokens: 5 }
  })
}

const colourOf = (uri: string): string => {
  const bytes = Buffer.from(uri.replace(/^data:image\/png;base64,/, ""), "base64")
  const at = bytes.indexOf("IDAT")
  if (at < 0) return "something"
  const [, red = 0, green = 0, blue = 0] = inflateSync(
    bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at - 4))
  )
  const most = Math.max(red, green, blue)
  return most === red ? "red" : most === green ? "green" : "blue"
}
