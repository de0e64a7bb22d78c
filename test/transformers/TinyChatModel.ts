/** A chat model of one layer whose every token leads to one other, so that it always writes the same text. */
import { seeded } from "../../bench/corpus/Random.ts"
import { gguf, type GgufTensor } from "./Gguf.ts"

const WIDTH = 64
const HEADS = 4

const SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
const [NORMAL, CONTROL] = [1, 3]

const TEMPLATE =
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"

/** GPT-2's characters for bytes: printable ones stand for themselves. */
const BYTES: ReadonlyArray<string> = (() => {
  let next = 256
  return Array.from({ length: 256 }, (_, byte) => {
    const isPrintable = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
    return String.fromCodePoint(isPrintable ? byte : next++)
  })
})()

/** Bytes of a token. Longer where it is one already. */
const TOKEN_BYTES = 5

/** A text as tokens, each of which occurs once. A character may be cut. */
const tokensOf = (written: string): ReadonlyArray<string> => {
  const all = Array.from(Buffer.from(written), (byte) => BYTES[byte]!)
  const tokens: Array<string> = []
  for (let at = 0; at < all.length;) {
    let length = TOKEN_BYTES
    const piece = () => all.slice(at, at + length).join("")
    while (tokens.includes(piece()) && at + length < all.length) length++
    // A short rest might be a token already.
    if (all.length - at - length < TOKEN_BYTES) length = all.length - at
    tokens.push(piece())
    at += length
  }
  const unique = new Set([...BYTES, ...tokens])
  if (unique.size !== BYTES.length + tokens.length)
    throw new Error("The text ends with a token that there is.")
  return tokens
}

/** The file of a model that answers every chat with this text. */
export const tinyChatModel = (written: string): Uint8Array => {
  const script = [...tokensOf(written), BYTES[10]!.repeat(4)]
  const vocabulary = [...BYTES, ...SPECIAL, ...script]
  const { next } = seeded(7)
  const sign = () => (next() < 0.5 ? -1 : 1)
  const vectors = vocabulary.map(() => Float32Array.from({ length: WIDTH }, sign))
  const rows = vocabulary.map(() => new Float32Array(WIDTH))
  const chain = [BYTES[10]!, ...script, SPECIAL[2]!].map((token) => vocabulary.indexOf(token))
  // A row that is the vector of a token has its highest product with that token.
  chain.slice(1).forEach((to, i) => rows[to]!.set(vectors[chain[i]!]!))
  const tensor = (name: string, dims: ReadonlyArray<number>, values?: Float32Array): GgufTensor => ({
    name,
    dims,
    values: values ?? new Float32Array(dims.reduce((product, dim) => product * dim, 1))
  })
  const flat = (all: ReadonlyArray<Float32Array>) => Float32Array.from(all.flatMap((one) => [...one]))
  const norm = (name: string) => tensor(name, [WIDTH], new Float32Array(WIDTH).fill(1))
  const square = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]
  return gguf(
    {
      "general.architecture": "llama",
      "general.name": "tiny",
      "llama.context_length": 4096,
      "llama.embedding_length": WIDTH,
      "llama.block_count": 1,
      "llama.feed_forward_length": WIDTH,
      "llama.attention.head_count": HEADS,
      "llama.attention.layer_norm_rms_epsilon": { float: 1e-6 },
      "tokenizer.ggml.model": "gpt2",
      "tokenizer.ggml.pre": "qwen2",
      "tokenizer.ggml.tokens": vocabulary,
      "tokenizer.ggml.token_type": vocabulary.map((token) => (SPECIAL.includes(token) ? CONTROL : NORMAL)!),
      "tokenizer.ggml.merges": ["Ġ t"],
      "tokenizer.ggml.bos_token_id": vocabulary.indexOf(SPECIAL[0]!),
      "tokenizer.ggml.eos_token_id": vocabulary.indexOf(SPECIAL[2]!),
      "tokenizer.chat_template": TEMPLATE
    },
    [
      tensor("token_embd.weight", [WIDTH, vocabulary.length], flat(vectors)),
      ...square.map((name) => tensor(`blk.0.${name}.weight`, [WIDTH, WIDTH])),
      norm("blk.0.attn_norm.weight"),
      norm("blk.0.ffn_norm.weight"),
      norm("output_norm.weight"),
      tensor("output.weight", [WIDTH, vocabulary.length], flat(rows))
    ]
  )
}
