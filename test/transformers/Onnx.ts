/** Writes ONNX files: the few messages of the format that a small model needs, as protobuf bytes. */

type Field = Uint8Array

const varint = (value: number): ReadonlyArray<number> => {
  const bytes: Array<number> = []
  for (let rest = BigInt(value); ; rest >>= 7n) {
    if (rest < 128n) return [...bytes, Number(rest)]
    bytes.push(Number(rest & 127n) | 128)
  }
}

const integer = (field: number, value: number): Field =>
  Uint8Array.from([...varint(field << 3), ...varint(value)])

const bytes = (field: number, value: Uint8Array): Field =>
  Buffer.concat([Uint8Array.from([...varint((field << 3) | 2), ...varint(value.length)]), value])

const text = (field: number, value: string): Field => bytes(field, Buffer.from(value))

const message = (field: number, fields: ReadonlyArray<Field>): Field => bytes(field, Buffer.concat(fields))

const FLOAT = 1
const INT8 = 3
const INT64 = 7

/** Named numbers of a model: floats and bytes as weights, integers as axes. */
export interface Weights {
  readonly name: string
  readonly dims: ReadonlyArray<number>
  readonly values: Float32Array | Int8Array | BigInt64Array
}

const typeOf = (values: Weights["values"]): number =>
  values instanceof Float32Array ? FLOAT : values instanceof Int8Array ? INT8 : INT64

export interface Node {
  readonly op: string
  readonly inputs: ReadonlyArray<string>
  readonly output: string
  /** Attributes that are integers, or lists of them. */
  readonly attributes?: Readonly<Record<string, number | ReadonlyArray<number>>>
}

/** `batch` and `tokens` are dimensions that differ from run to run. */
export interface Value {
  readonly name: string
  readonly type: "float" | "int64"
  readonly dims: ReadonlyArray<number | "batch" | "tokens">
}

/** Attribute types. */
const INT = 2
const INTS = 7

const attributeOf = (name: string, value: number | ReadonlyArray<number>): Field =>
  typeof value === "number"
    ? message(5, [text(1, name), integer(3, value), integer(20, INT)])
    : message(5, [text(1, name), ...value.map((one) => integer(8, one)), integer(20, INTS)])

const nodeOf = ({ attributes = {}, inputs, op, output }: Node): Field =>
  message(1, [
    ...inputs.map((name) => text(1, name)),
    text(2, output),
    text(3, output),
    text(4, op),
    ...Object.entries(attributes).map(([name, value]) => attributeOf(name, value))
  ])

const weightsOf = ({ dims, name, values }: Weights): Field =>
  message(5, [
    ...dims.map((dim) => integer(1, dim)),
    integer(2, typeOf(values)),
    text(8, name),
    bytes(9, new Uint8Array(values.buffer))
  ])

const valueOf = (field: number, { dims, name, type }: Value): Field =>
  message(field, [
    text(1, name),
    message(2, [
      message(1, [
        integer(1, type === "float" ? FLOAT : INT64),
        message(
          2,
          dims.map((dim) => message(1, [typeof dim === "number" ? integer(1, dim) : text(2, dim)]))
        )
      ])
    ])
  ])

/** A model of opset 17. */
export const onnx = (graph: {
  readonly nodes: ReadonlyArray<Node>
  readonly weights: ReadonlyArray<Weights>
  readonly inputs: ReadonlyArray<Value>
  readonly outputs: ReadonlyArray<Value>
}): Uint8Array =>
  Buffer.concat([
    integer(1, 8),
    text(2, "sluice"),
    message(7, [
      ...graph.nodes.map(nodeOf),
      text(2, "tiny"),
      ...graph.weights.map(weightsOf),
      ...graph.inputs.map((value) => valueOf(11, value)),
      ...graph.outputs.map((value) => valueOf(12, value))
    ]),
    message(8, [text(1, ""), integer(2, 17)])
  ])
