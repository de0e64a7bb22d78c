/** Three small models as the hub has them: a folder with configuration, tokenizer and ONNX file, of seeded weights. */
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { seeded } from "../../bench/corpus/Random.ts"
import { type Node, onnx, type Value, type Weights } from "./Onnx.ts"

export const WIDTH = 64

const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
const CHARACTERS = [..."abcdefghijklmnopqrstuvwxyz0123456789"]
const WORDS = (
  "the a of is are be it in on by at we our how long does when where what who query passage number speaks item " +
  "boiler must inspected every spring before lit refund refunds paid within fourteen days return returns returned " +
  "after goods can post office closed public holidays take heating"
).split(" ")

/** Every text of letters and digits has tokens: unknown words are spelt. */
export const vocabularyOf = (words: Iterable<string>): ReadonlyArray<string> => [
  ...SPECIAL,
  ...CHARACTERS,
  ...CHARACTERS.map((one) => `##${one}`),
  ...words
]
const VOCABULARY = vocabularyOf(WORDS)

const special = (token: string, type_id: number) => ({ SpecialToken: { id: token, type_id } })
const sequence = (id: "A" | "B", type_id: number) => ({ Sequence: { id, type_id } })

/** A tokenizer of these words, which come after the special tokens. */
const tokenizerOf = (vocabulary: ReadonlyArray<string>) => ({
  version: "1.0",
  truncation: null,
  padding: null,
  added_tokens: SPECIAL.map((content, id) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true
  })),
  normalizer: {
    type: "BertNormalizer",
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase: true
  },
  pre_tokenizer: { type: "BertPreTokenizer" },
  post_processor: {
    type: "TemplateProcessing",
    single: [special("[CLS]", 0), sequence("A", 0), special("[SEP]", 0)],
    pair: [special("[CLS]", 0), sequence("A", 0), special("[SEP]", 0), sequence("B", 1), special("[SEP]", 1)],
    special_tokens: Object.fromEntries(
      ["[CLS]", "[SEP]"].map((id) => [id, { id, ids: [vocabulary.indexOf(id)], tokens: [id] }])
    )
  },
  decoder: { type: "WordPiece", prefix: "##", cleanup: true },
  model: {
    type: "WordPiece",
    unk_token: "[UNK]",
    continuing_subword_prefix: "##",
    max_input_chars_per_word: 100,
    vocab: Object.fromEntries(vocabulary.map((token, id) => [token, id]))
  }
})

const random = (seed: number, name: string, ...dims: ReadonlyArray<number>): Weights => {
  const { next } = seeded(seed)
  const values = new Float32Array(dims.reduce((product, dim) => product * dim, 1))
  for (let i = 0; i < values.length; i++) values[i] = (next() + next() + next() - 1.5) * Math.sqrt(4 / WIDTH)
  return { name, dims, values }
}

/** Each word by itself; little words and single characters count little, or as given; marks nothing. */
const identity = (name: string, little = 0.2): Weights => {
  const size = VOCABULARY.length
  const values = new Float32Array(size * size)
  VOCABULARY.forEach((token, i) => {
    const weight = SPECIAL.includes(token) ? 0 : token.replace("##", "").length < 5 ? little : 1.5
    values[i * size + i] = weight
  })
  return { name, dims: [size, size], values }
}

const axis = (name: string, value: number): Weights => ({
  name,
  dims: [1],
  values: BigInt64Array.from([BigInt(value)])
})

const node = (output: string, op: string, inputs: ReadonlyArray<string>, attributes = {}): Node => ({
  op,
  inputs,
  output,
  attributes
})

const tokens = (name: string): Value => ({ name, type: "int64", dims: ["batch", "tokens"] })

const words = random(1, "words", VOCABULARY.length, WIDTH)
const matrix = random(2, "matrix", WIDTH, WIDTH)

/** One layer: the vector of each token, turned by a matrix and bent. */
const encoderOf = (weights: ReadonlyArray<Weights>, more: ReadonlyArray<Node> = []) =>
  onnx({
    inputs: [tokens("input_ids"), tokens("attention_mask")],
    outputs: [{ name: "last_hidden_state", type: "float", dims: ["batch", "tokens", WIDTH] }],
    weights: [...weights, axis("two", 2)],
    nodes: [
      ...more,
      node("found", "Gather", ["words", "input_ids"]),
      node("turned", "MatMul", ["found", "matrix"]),
      node("bent", "Tanh", ["turned"]),
      node("mask", "Cast", ["attention_mask"], { to: 1 }),
      node("column", "Unsqueeze", ["mask", "two"]),
      node("last_hidden_state", "Mul", ["bent", "column"])
    ]
  })

/** The step between two neighbouring weights of the quantised matrix. */
const STEP = 1 / 127
const bytesOfMatrix = Int8Array.from(matrix.values as Float32Array, (value) => Math.round(value / STEP))

/** The same with a matrix of bytes. */
const quantizedEncoder = () =>
  encoderOf(
    [
      words,
      { name: "bytes", dims: [WIDTH, WIDTH], values: bytesOfMatrix },
      { name: "step", dims: [1], values: Float32Array.of(STEP) }
    ],
    [node("matrix", "DequantizeLinear", ["bytes", "step"])]
  )

/** The mean of the encoder's token vectors, worked out here: of known words, with the marks around them. */
export const referenceVector = (text: string, quantized: boolean): ReadonlyArray<number> => {
  const used = quantized
    ? Array.from(bytesOfMatrix, (byte) => byte * STEP)
    : Array.from(matrix.values, Number)
  const sums = Array.from({ length: WIDTH }, () => 0)
  for (const word of ["[CLS]", ...text.split(" "), "[SEP]"]) {
    const row = VOCABULARY.indexOf(word) * WIDTH
    for (let to = 0; to < WIDTH; to++) {
      let sum = 0
      for (let from = 0; from < WIDTH; from++)
        sum += Number(words.values[row + from]) * used[from * WIDTH + to]!
      sums[to]! += Math.tanh(sum)
    }
  }
  const length = Math.hypot(...sums)
  return sums.map((sum) => sum / length)
}

const PAIR = [tokens("input_ids"), tokens("attention_mask"), tokens("token_type_ids")]

/** How much the words of the first text are those of the second. */
const sharedWords = (output: string): ReadonlyArray<Node> => [
  node("found", "Gather", ["words", "input_ids"]),
  node("mask", "Cast", ["attention_mask"], { to: 1 }),
  node("types", "Cast", ["token_type_ids"], { to: 1 }),
  node("second", "Mul", ["mask", "types"]),
  node("first", "Sub", ["mask", "second"]),
  node("firstColumn", "Unsqueeze", ["first", "two"]),
  node("secondColumn", "Unsqueeze", ["second", "two"]),
  node("firstWords", "Mul", ["found", "firstColumn"]),
  node("secondWords", "Mul", ["found", "secondColumn"]),
  node("firstSum", "ReduceSum", ["firstWords", "one"], { keepdims: 0 }),
  node("secondSum", "ReduceSum", ["secondWords", "one"], { keepdims: 0 }),
  node("product", "Mul", ["firstSum", "secondSum"]),
  node(output, "ReduceSum", ["product", "one"], { keepdims: 1 })
]

const crossEncoder = onnx({
  inputs: PAIR,
  outputs: [{ name: "logits", type: "float", dims: ["batch", 1] }],
  weights: [identity("words"), axis("one", 1), axis("two", 2)],
  nodes: sharedWords("logits")
})

/** A number for each token. */
const table = (name: string, valueOf: (token: string) => number): Weights => ({
  name,
  dims: [VOCABULARY.length],
  values: Float32Array.from(VOCABULARY, valueOf)
})

/** Half of the logit of no answer, and of that of an answer before the shared words. */
const NO_ANSWER = 10
const ANSWER = 8
const edge = (name: string, words: ReadonlyArray<string>) =>
  table(name, (token) => (token === "[CLS]" ? NO_ANSWER : words.includes(token) ? ANSWER : 0))

/** Answers are "fourteen … days" and "every … spring". Words that the question shares speak against no answer. */
const answerer = onnx({
  inputs: PAIR,
  outputs: ["start_logits", "end_logits"].map((name) => ({ name, type: "float", dims: ["batch", "tokens"] })),
  weights: [
    identity("words", 0),
    axis("one", 1),
    axis("two", 2),
    edge("starts", ["fourteen", "every"]),
    edge("ends", ["days", "spring"]),
    table("isWord", (token) => (SPECIAL.includes(token) ? 0 : 1))
  ],
  nodes: [
    ...sharedWords("shared"),
    node("word", "Gather", ["isWord", "input_ids"]),
    node("support", "Mul", ["word", "shared"]),
    node("start", "Gather", ["starts", "input_ids"]),
    node("end", "Gather", ["ends", "input_ids"]),
    node("start_logits", "Add", ["start", "support"]),
    node("end_logits", "Add", ["end", "support"])
  ]
})

/** How probable an answer is against none, worked out here. `shared`: words of five letters in the question and in the passage. */
export const referenceProbability = (shared: number): number =>
  1 / (1 + Math.exp(2 * NO_ANSWER - 2 * (ANSWER + shared * 1.5 ** 2)))

const MODELS = {
  encoder: { file: encoderOf([words, matrix]), architecture: "BertModel" },
  crossEncoder: { file: crossEncoder, architecture: "BertForSequenceClassification" },
  answerer: { file: answerer, architecture: "BertForQuestionAnswering" }
} as const

interface ModelFolder {
  readonly file: Uint8Array
  readonly architecture: string
  readonly vocabulary: ReadonlyArray<string>
  readonly width: number
  readonly heads: number
  readonly layers: number
  readonly maxTokens: number
}

/** Writes a model into a folder, as the hub has it. */
export const writeFolder = async (at: string, of: ModelFolder): Promise<void> => {
  const json = (name: string, value: unknown) => writeFile(join(at, name), JSON.stringify(value))
  await mkdir(join(at, "onnx"), { recursive: true })
  await writeFile(join(at, "onnx/model.onnx"), of.file)
  await json("tokenizer.json", tokenizerOf(of.vocabulary))
  await json("tokenizer_config.json", {
    tokenizer_class: "BertTokenizer",
    model_max_length: of.maxTokens,
    do_lower_case: true,
    pad_token: "[PAD]",
    unk_token: "[UNK]",
    cls_token: "[CLS]",
    sep_token: "[SEP]",
    mask_token: "[MASK]"
  })
  await json("config.json", {
    model_type: "bert",
    architectures: [of.architecture],
    hidden_size: of.width,
    num_attention_heads: of.heads,
    num_hidden_layers: of.layers,
    vocab_size: of.vocabulary.length,
    pad_token_id: 0,
    num_labels: 1
  })
}

/** Writes a model into a folder of that name and gives the folder. */
export const writeModel = async (folder: string, kind: keyof typeof MODELS): Promise<string> => {
  const at = join(folder, kind)
  const one = { vocabulary: VOCABULARY, width: WIDTH, heads: 1, layers: 1, maxTokens: 64 }
  await writeFolder(at, { ...MODELS[kind], ...one })
  if (kind === "encoder") await writeFile(join(at, "onnx/model_quantized.onnx"), quantizedEncoder())
  return at
}
