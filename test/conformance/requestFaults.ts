/** The requests that the interface does not allow, by call and rule. */
import type { FakeRequestBody as Body } from "../../packages/core/src/testing/ReferenceGateway.ts"

type Fault = (body: Body) => boolean

const MAX_IMAGE_BYTES = 20 * 1024 * 1024

const without = (...fields: ReadonlyArray<keyof Body>): Readonly<Record<string, Fault>> =>
  Object.fromEntries(fields.map((field) => [`no_${field}`, (body: Body) => body[field] === undefined]))

/** A field with another value than these. */
const other =
  (field: keyof Body, ...values: ReadonlyArray<unknown>): Fault =>
  (body) =>
    body[field] !== undefined && !values.includes(body[field])

const notWhole =
  (field: keyof Body): Fault =>
  (body) =>
    body[field] !== undefined && !Number.isInteger(body[field])

const outside =
  (field: keyof Body, least: number, most = 2_147_483_647): Fault =>
  (body) =>
    notWhole(field)(body) || Number(body[field]) < least || Number(body[field]) > most

/** A fault in the requests to one group's model. */
const of =
  (group: string, fault: Fault): Fault =>
  (body) =>
    body.model?.endsWith(group) === true && fault(body)

const either =
  (...faults: ReadonlyArray<Fault>): Fault =>
  (body) =>
    faults.some((fault) => fault(body))

const somePart =
  (
    fault: (part: {
      readonly type?: string
      readonly image_url?: { url?: string; detail?: string }
    }) => boolean
  ): Fault =>
  ({ messages }) =>
    messages?.some(({ content }) => typeof content !== "string" && content.some(fault)) === true

const someUrl = (fault: (url: string) => boolean): Fault =>
  somePart(({ image_url: { url = "" } = {} }) => url !== "" && fault(url))

export const FAULTS: Readonly<Record<string, Readonly<Record<string, Fault>>>> = {
  "POST /v1/rerank": {
    ...without("model", "query", "documents"),
    list: ({ documents }) => documents !== undefined && !Array.isArray(documents),
    wholeTopN: notWhole("top_n")
  },
  "POST /v1/embeddings": {
    ...without("model", "input"),
    texts: ({ input }) => input !== undefined && typeof input !== "string" && !Array.isArray(input),
    format: other("encoding_format", "float", "base64")
  },
  "POST /v1/chat/completions": {
    ...without("model", "messages"),
    wholeMaxTokens: notWhole("max_tokens"),
    gif: someUrl((url) => url.startsWith("data:image/gif")),
    large: someUrl((url) => url.startsWith("data:") && url.length * 0.75 > MAX_IMAGE_BYTES),
    privateUrl: someUrl((url) => url.startsWith("http://127.")),
    detail: somePart(({ image_url }) => !["low", "high", "auto"].includes(image_url?.detail ?? "auto")),
    noUrl: somePart(({ image_url }) => image_url !== undefined && image_url.url === undefined),
    part: somePart(({ type }) => type !== "text" && type !== "image_url")
  },
  "POST /v1/images/generations": {
    ...without("model", "prompt"),
    most: ({ n = 1 }) => n > 10,
    least: ({ n = 1 }) => n < 1,
    whole: notWhole("n"),
    size: ({ size = "auto" }) => !/^(?:[124]K|auto|\d+x\d+)$/.test(String(size)),
    quality: other("quality", "low", "medium", "high"),
    image: of("i2", ({ image }) => image !== undefined),
    input_fidelity: of("i1", other("input_fidelity", "high", "low")),
    moderation: of("i1", other("moderation", "auto", "low")),
    output_format: of("i1", other("output_format", "png", "jpeg", "webp")),
    safety_tolerance: of("i5", outside("safety_tolerance", 0, 5)),
    aspect_ratio: of("i5", ({ aspect_ratio = "1:1" }) => !/^\d+:\d+$/.test(aspect_ratio)),
    seed: either(of("i3", outside("seed", 0)), of("i4", outside("seed", -1)), of("i5", notWhole("seed"))),
    raw: of("i5", other("raw", true, false)),
    watermark: either(of("i3", other("watermark", true, false)), of("i4", other("watermark", true, false))),
    sequential_image_generation: of("i4", other("sequential_image_generation", "auto", "disabled")),
    response_format: of("i4", other("response_format", "url", "base64_json")),
    fused: of("i4", ({ image = [], n = 1 }) => image.length + n > 15)
  },
  "POST /v1/videos": {
    ...without("model", "prompt"),
    seconds: ({ seconds }) => typeof seconds === "number",
    groupSeconds: ({ seconds }) => typeof seconds === "string" && !["4", "8", "12"].includes(seconds),
    size: ({ size }) => typeof size === "number",
    groupSize: ({ size }) => typeof size === "string" && !["720x1280", "1280x720"].includes(size),
    reference: ({ input_reference }) => typeof input_reference === "number"
  },
  "PUT /api/token/": { otherStatus: other("status", 0, 1) }
}

/** The first fault of a request. */
export const faultOf = (call: string, body: Body): string | undefined =>
  Object.entries(FAULTS[call] ?? {}).find(([, fault]) => fault(body))?.[0]
