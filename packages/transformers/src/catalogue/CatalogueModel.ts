/** What the catalogue says of a model. */
import { Schema } from "effect"

/** A part of paths. It cannot leave a folder. */
const Name = Schema.String.check(Schema.isPattern(/^\w[\w.-]*$/))
const RelativePath = Schema.String.check(Schema.isPattern(/^\w[\w.-]*(\/\w[\w.-]*)*$/))

const CatalogueFile = Schema.Struct({
  /** Its path in the repository. */
  path: RelativePath,
  /** Its path in the folder of the model, if another one. */
  as: Schema.optionalKey(RelativePath),
  bytes: Schema.Int.check(Schema.isGreaterThan(0)),
  sha256: Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))
})
export type CatalogueFile = typeof CatalogueFile.Type

/** A figure that others measured and published. It was not measured here. */
const PublishedFigure = Schema.Struct({
  measure: Schema.String,
  value: Schema.Finite,
  source: Schema.String
})

const CatalogueModel = Schema.Struct({
  id: Name,
  /** `reader`: it marks the answer in a passage. `chat`: it writes, as an instruction model. */
  kind: Schema.Literals(["embedder", "reranker", "reader", "chat"]),
  /** The repository at the hub, and the commit of it. */
  repository: RelativePath,
  revision: Name,
  licence: Schema.String,
  languages: Schema.String,
  /** Millions of parameters. */
  parameters: Schema.optionalKey(Schema.Finite),
  /** The file in `onnx/`: `fp32` is `model.onnx`, `q8` is `model_quantized.onnx`. A chat model is one GGUF file, without it. */
  dtype: Schema.optionalKey(Schema.Literals(["fp32", "fp16", "q8", "q4"])),
  /** Texts are truncated to this many tokens. Of a chat model: those of a request and its response together. */
  maxTokens: Schema.Int.check(Schema.isGreaterThan(0)),
  dimension: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))),
  pooling: Schema.optionalKey(Schema.Literals(["mean", "cls", "last"])),
  prefixes: Schema.optionalKey(
    Schema.Struct({ query: Schema.optionalKey(Schema.String), passage: Schema.optionalKey(Schema.String) })
  ),
  files: Schema.Array(CatalogueFile).check(Schema.isMinLength(1)),
  published: Schema.optionalKey(Schema.Array(PublishedFigure)),
  /** What a user must know before choosing it. */
  note: Schema.optionalKey(Schema.String)
})
export type CatalogueModel = typeof CatalogueModel.Type

/** Models, and the names of those that work together: an embedder, a reranker and, in some sets, a reader or a chat model. */
export const LocalCatalogue = Schema.Struct({
  models: Schema.Array(CatalogueModel),
  sets: Schema.Record(Schema.String, Schema.Array(Schema.String))
})
export type LocalCatalogue = typeof LocalCatalogue.Type

/** The path of a file in the folder of its model. */
export const storedPath = ({ as, path }: CatalogueFile): string => as ?? path

/** The bytes of some models together. */
export const bytesOf = (models: ReadonlyArray<CatalogueModel>): number =>
  models.flatMap(({ files }) => files).reduce((sum, { bytes }) => sum + bytes, 0)
