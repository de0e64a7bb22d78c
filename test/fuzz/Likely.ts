/** Values the server knows, small and cheap, so that a generated request gets past validation. */
import { makeDataUri } from "@sluice/core/media"
import { VIDEO_GROUPS } from "@sluice/core/contract"
import type { Random } from "../../bench/corpus/Random.ts"
import { GIF, JPEG, png, RED, WEBP } from "../laws/Pictures.ts"

type Pool = readonly [unknown, ...ReadonlyArray<unknown>]
/** Fields and their generators; `undefined` leaves a field out. */
type Fields = Readonly<Record<string, Pool>>

const pictures = [
  makeDataUri("image/png", png(RED)),
  makeDataUri("image/jpeg", JPEG),
  makeDataUri("image/webp", WEBP)
] as const

/** References that are refused as images. */
const noPictures = [
  makeDataUri("image/png", GIF),
  "data:image/gif;base64,R0lGODlhAQABAAAAACw=",
  "data:image/png;base64,????",
  "data:image/png;base64,iVBORw0KGgo=",
  "/etc/passwd",
  "file:///etc/passwd",
  "http://127.0.0.1:1/a.png",
  "http://169.254.169.254/latest",
  "http://[::ffff:10.0.0.1]/a.png"
] as const

/** Usually left out. */
const rarely = (...values: ReadonlyArray<unknown>): Pool => [
  undefined,
  ...Array.from({ length: 12 * values.length }, () => undefined),
  ...values
]

const images = [...pictures, ...pictures, ...pictures, ...noPictures, [pictures[0], pictures[1]]]

const groups = Object.keys(VIDEO_GROUPS) as ReadonlyArray<keyof typeof VIDEO_GROUPS>

const imageModels = ["i1", "i2", "i3", "i4", "i5", "i6", "i5-task", "i5-task-raw"] as const

const imageFields: Fields = {
  model: imageModels.map((id) => `sluice-image-${id}`) as unknown as Pool,
  // The default is one megapixel. Small images test the same code faster.
  size: ["64x64", "33x17", "16x16", "64x64", "33x17", "300x8"],
  n: [undefined, undefined, null, 1, 2, 3, 15],
  image: [...rarely(), ...Array.from({ length: 60 }, () => undefined), ...images],
  quality: rarely("low", "high", "hd", "auto"),
  input_fidelity: rarely("high"),
  moderation: rarely("low"),
  output_format: rarely("webp"),
  safety_tolerance: rarely(0),
  aspect_ratio: rarely("16:9", "9999:1"),
  seed: rarely(-1, 7, 2_147_483_647),
  raw: rarely(true),
  watermark: rarely(false),
  sequential_image_generation: rarely("auto"),
  response_format: [undefined, "url", "b64_json", "base64_json"]
}

const videoFields = (random: Random): Fields => {
  const group = groups[random.between(0, groups.length - 1)] ?? "V-A"
  const { seconds, size } = VIDEO_GROUPS[group]
  if (random.next() < 0.3) {
    return {
      model: ["sluice-video-from-image", "sluice-video-failing"],
      seconds: [undefined],
      size: [undefined],
      input_reference: [...images, { image_url: pictures[0] }, { file_id: "file-1" }] as unknown as Pool
    }
  }
  return {
    model: [`sluice-video-${group.toLowerCase()}`],
    seconds: [undefined, ...seconds],
    size: [undefined, ...size],
    input_reference: rarely(...pictures)
  }
}

const message = (random: Random) => {
  const text = { type: "text", text: random.pick(["What does it say?", "", "水闸？", "\0"]) }
  const picture = { type: "image_url", image_url: { url: random.pick([...pictures, ...noPictures]) } }
  return {
    role: "user",
    content: random.pick(["When?", "The ferry leaves at nine. When?", [text], [text, picture]])
  }
}

/** Likely fields for each path with a body. */
const fields: Readonly<Record<string, (random: Random) => Fields>> = {
  "/v1/embeddings": () => ({ model: ["sluice-lexical-1024"] }),
  "/v1/rerank": () => ({ model: ["sluice-lexical-rerank"] }),
  "/v2/rerank": () => ({ model: ["sluice-lexical-rerank"] }),
  "/v1/chat/completions": (random) => ({
    model: ["sluice-extractive", "sluice-extractive", "sluice-ocr"],
    messages: [[message(random)], [message(random), message(random)]],
    stream: [undefined, true, false]
  }),
  "/v1/images/generations": () => imageFields,
  "/v1/videos": videoFields,
  "/api/user": (random) => ({
    username: [undefined, `u${random.between(0, 1_000_000)}`, "水", "x".repeat(50)],
    role: rarely("admin", "user"),
    quota: rarely(0, 7),
    status: rarely(0, 1),
    add_quota: [undefined, 0, 7, -1]
  }),
  "/api/token/": () => ({
    name: ["a", "水", "x".repeat(100)],
    expired_time: [-1, -1, 4_000_000_000, 1],
    remain_quota: [0, 1, 500_000, 9_007_199_254_740_991],
    subnet: [undefined, "", "10.0.0.0/8", "::/0,1.2.3.4"],
    status: [undefined]
  })
}

/** Fields that keep their generated value. */
const drawnFields: ReadonlySet<string> = new Set(
  "input encoding_format query documents top_n return_documents max_tokens temperature stream_options prompt id".split(
    " "
  )
)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The generated body with some fields replaced by values the server knows. Unknown fields are removed. */
export const likely = (path: string, drawn: unknown, random: Random): unknown => {
  const known = fields[path]?.(random)
  if (known === undefined || !isObject(drawn)) return drawn
  // Rarely, one field keeps its generated value.
  const kept = new Set(Object.keys(known).filter(() => random.next() < 0.05))
  const set = Object.entries(known)
    .filter(([name]) => !kept.has(name))
    .map(([name, pool]) => [name, random.pick(pool)] as const)
  const asDrawn = Object.entries(drawn).filter(([name]) => drawnFields.has(name) || kept.has(name))
  return Object.fromEntries([...asDrawn, ...set].filter(([, value]) => value !== undefined))
}
