/** A BERT of 6 layers of 384 numbers, the size of MiniLM-L6, with random weights. It computes as much as a trained one. */
import { join } from "node:path"
import { type Node, onnx, type Value, type Weights } from "../../test/transformers/Onnx.ts"
import { vocabularyOf, writeFolder } from "../../test/transformers/TinyModel.ts"
import { seeded } from "../corpus/Random.ts"

const LAYERS = 6
const WIDTH = 384
const HEADS = 12
const INNER = 4 * WIDTH
const MAX_TOKENS = 512

/** The nodes of a graph in order, and their weights. Each function gives the name of its output. */
const makeGraph = () => {
  const { next } = seeded(1)
  const nodes: Array<Node> = []
  const weights: Array<Weights> = []
  const add = (op: string, inputs: ReadonlyArray<string>, attributes: Node["attributes"] = {}): string => {
    const output = `node${nodes.length}`
    nodes.push({ op, inputs, output, attributes })
    return output
  }
  const weight = (dims: ReadonlyArray<number>, values: Weights["values"]): string => {
    const name = `weight${weights.length}`
    weights.push({ name, dims, values })
    return name
  }
  /** Uniform, with a variance of one over the number of rows that a product sums. */
  const random = (scale: number, ...dims: ReadonlyArray<number>) => {
    const values = new Float32Array(dims.reduce((product, dim) => product * dim, 1))
    return weight(
      dims,
      values.map(() => (2 * next() - 1) * scale * Math.sqrt(3))
    )
  }
  const number = (value: number) => weight([1], Float32Array.of(value))
  const integers = (...values: ReadonlyArray<number>) =>
    weight([values.length], BigInt64Array.from(values, BigInt))
  const dense = (from: string, rows: number, columns: number) =>
    add("Add", [add("MatMul", [from, random(1 / Math.sqrt(rows), rows, columns)]), random(0.1, columns)])
  const normalise = (from: string) =>
    add("LayerNormalization", [
      from,
      weight([WIDTH], new Float32Array(WIDTH).fill(1)),
      weight([WIDTH], new Float32Array(WIDTH))
    ])
  const gelu = (from: string) => {
    const bent = add("Add", [add("Erf", [add("Div", [from, number(Math.SQRT2)])]), number(1)])
    return add("Mul", [add("Mul", [from, bent]), number(0.5)])
  }
  return { nodes, weights, add, random, number, integers, dense, normalise, gelu }
}

type Graph = ReturnType<typeof makeGraph>

const attention = ({ add, dense, integers, number }: Graph, from: string, mask: string): string => {
  const heads = (perm: ReadonlyArray<number>) =>
    add("Transpose", [add("Reshape", [dense(from, WIDTH, WIDTH), integers(0, 0, HEADS, WIDTH / HEADS)])], {
      perm
    })
  const [queries, keys, values] = [heads([0, 2, 1, 3]), heads([0, 2, 3, 1]), heads([0, 2, 1, 3])]
  const scores = add("Div", [add("MatMul", [queries, keys]), number(Math.sqrt(WIDTH / HEADS))])
  const shares = add("Softmax", [add("Add", [scores, mask])], { axis: 3 })
  const mixed = add("Transpose", [add("MatMul", [shares, values])], { perm: [0, 2, 1, 3] })
  return dense(add("Reshape", [mixed, integers(0, 0, WIDTH)]), WIDTH, WIDTH)
}

const bert = (vocabulary: number, output: "last_hidden_state" | "logits"): Uint8Array => {
  const graph = makeGraph()
  const { add, dense, gelu, integers, nodes, normalise, number, random, weights } = graph
  const attended = add("Cast", [add("Unsqueeze", ["attention_mask", integers(1, 2)])], { to: 1 })
  const mask = add("Mul", [add("Sub", [number(1), attended]), number(-10_000)])
  const tokens = add("Shape", ["input_ids"], { start: 1, end: 2 })
  const positions = add("Slice", [random(1, MAX_TOKENS, WIDTH), integers(0), tokens, integers(0)])
  const words = add("Gather", [random(1, vocabulary, WIDTH), "input_ids"])
  const types = add("Gather", [random(1, 2, WIDTH), "token_type_ids"])
  let hidden = normalise(add("Add", [add("Add", [words, types]), positions]))
  for (let layer = 0; layer < LAYERS; layer++) {
    hidden = normalise(add("Add", [hidden, attention(graph, hidden, mask)]))
    const inner = gelu(dense(hidden, WIDTH, INNER))
    hidden = normalise(add("Add", [hidden, dense(inner, INNER, WIDTH)]))
  }
  const first = () => add("Gather", [hidden, integers(0)], { axis: 1 })
  const result = output === "logits" ? add("Reshape", [dense(first(), WIDTH, 1), integers(0, 1)]) : hidden
  nodes.push({ op: "Identity", inputs: [result], output })
  const input = (name: string): Value => ({ name, type: "int64", dims: ["batch", "tokens"] })
  return onnx({
    nodes,
    weights,
    inputs: ["input_ids", "attention_mask", "token_type_ids"].map(input),
    outputs: [
      { name: output, type: "float", dims: output === "logits" ? ["batch", 1] : ["batch", "tokens", WIDTH] }
    ]
  })
}

/** Writes an embedder and a reranker whose tokenizer knows the words of `texts`, and gives their folders. */
export const writeRandomModels = async (folder: string, texts: ReadonlyArray<string>) => {
  const vocabulary = vocabularyOf(new Set(texts.flatMap((text) => text.toLowerCase().match(/[a-z]+/g) ?? [])))
  const write = async (name: string, architecture: string, output: "last_hidden_state" | "logits") => {
    const at = join(folder, name)
    const size = { width: WIDTH, heads: HEADS, layers: LAYERS, maxTokens: MAX_TOKENS }
    await writeFolder(at, { file: bert(vocabulary.length, output), architecture, vocabulary, ...size })
    return at
  }
  return [
    await write("random-embedder", "BertModel", "last_hidden_state"),
    await write("random-reranker", "BertForSequenceClassification", "logits")
  ]
}
