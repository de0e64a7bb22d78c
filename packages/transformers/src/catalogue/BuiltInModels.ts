/**
 * The neural models that `sluice models pull` can fetch. Those of ONNX are quantised to 8 bits and exported by the owner of
 * the repository. Decisions 22 and 31 compare them with those not chosen.
 */
import type { CatalogueFile, LocalCatalogue } from "./CatalogueModel.ts"

type SizeAndHash = readonly [bytes: number, sha256: string]

/** The three JSON files of a model, and its weights under the name that `q8` stands for. */
const filesOf = (
  weights: string,
  sizes: readonly [SizeAndHash, SizeAndHash, SizeAndHash, SizeAndHash]
): ReadonlyArray<CatalogueFile> =>
  ["config.json", "tokenizer.json", "tokenizer_config.json", weights].map((path, i) => ({
    path,
    bytes: sizes[i]![0],
    sha256: sizes[i]![1],
    ...(path === weights && { as: "onnx/model_quantized.onnx" })
  }))

/** What the owner of a model published about it. */
const publishedOf = (repository: string, value: number) => [
  { measure: MTEB, value, source: `https://huggingface.co/${repository}` }
]

const GRANITE_LANGUAGES = "more than 200, of which 52 were trained for retrieval"
const MTEB = "MTEB Multilingual Retrieval, 18 tasks, nDCG@10"
const RERANKED_MIRACL = "https://huggingface.co/madebyaris/rerank-indonesia"
/** BM25's best 100 passages of MIRACL, Indonesian, reranked. */
const MIRACL_ID = "MIRACL Indonesian, BM25's best 100 reranked, nDCG@10"

const QWEN_REPORT = "https://arxiv.org/abs/2412.15115"

const ALIKE = { licence: "Apache-2.0", dtype: "q8", maxTokens: 512 } as const

const models: LocalCatalogue["models"] = [
  {
    id: "granite-embedding-97m",
    kind: "embedder",
    repository: "ibm-granite/granite-embedding-97m-multilingual-r2",
    revision: "835ad14087e140460703cf0fae09f97d469d65c2",
    ...ALIKE,
    languages: GRANITE_LANGUAGES,
    parameters: 97,
    dimension: 384,
    pooling: "cls",
    files: filesOf("onnx/model_quint8_avx2.onnx", [
      [1_216, "de948b0bdc6f356afad7a84b276d8dd7e7fe10fb9add1bb5e610621c28e41ebc"],
      [25_301_672, "4f2842d568e2724370aec203652a42ac783c7937f8347a1a2cc7506d71f1582f"],
      [12_860, "6ed69389e30a8ecabfce2f9ebcdf0c908b34056f24d994340f2f216521c057d5"],
      [98_247_878, "a6022dd8220ea6f6595562a1328ee216f4a94faa55362f2f4747c80f1e78772e"]
    ]),
    published: publishedOf("ibm-granite/granite-embedding-97m-multilingual-r2", 59.6)
  },
  {
    id: "granite-embedding-311m",
    kind: "embedder",
    repository: "ibm-granite/granite-embedding-311m-multilingual-r2",
    revision: "44399559930365213510b1ee2eb15ded83374f0e",
    ...ALIKE,
    languages: GRANITE_LANGUAGES,
    parameters: 311,
    dimension: 768,
    pooling: "cls",
    files: filesOf("onnx/model_quint8_avx2.onnx", [
      [1_191, "e1e3fc842a8e0537e25d6e4c93879698b92ae96722e8c162bef334b57978a3b0"],
      [33_384_821, "0087c868b33bad550a78a08d19798cfd7f713cde4f020803b8f51f405503e15f"],
      [1_155_500, "7947bdf0378520e69ca412b8c4dacd1cffa8aef099f851fdd5c65aa27c6b36a0"],
      [313_421_909, "f1fdd44e7e1ac51f12ab7957c7bd092e064d596c288513bf9d326842f669edee"]
    ]),
    published: publishedOf("ibm-granite/granite-embedding-311m-multilingual-r2", 64.0)
  },
  {
    id: "mmarco-minilm",
    kind: "reranker",
    repository: "cross-encoder/mmarco-mMiniLMv2-L12-H384-v1",
    revision: "1427fd652930e4ba29e8149678df786c240d8825",
    ...ALIKE,
    languages: "ar, de, en, es, fr, hi, id, it, ja, nl, pt, ru, vi, zh",
    parameters: 118,
    files: filesOf("onnx/model_quint8_avx2.onnx", [
      [891, "cc2cfe51aa3fd759d21d21acf5dfd6994aa67a3c9210636d22e143699d336c77"],
      [17_082_660, "62c24cdc13d4c9952d63718d6c9fa4c287974249e16b7ade6d5a85e7bbb75626"],
      [435, "e7fbfbfa6347b4e414c1cee50d142e2c2f9a895dad68b068ae83a8b564c3837e"],
      [118_620_016, "6c2513767fb63d008a4377bef7a7a3555433d9436342bb53e35a3a72ffc52d4b"]
    ]),
    published: [{ measure: MIRACL_ID, value: 0.656, source: RERANKED_MIRACL }],
    note: "Trained on mMARCO, a translation of MS MARCO, whose own terms are for research"
  },
  {
    id: "bge-reranker-v2-m3",
    kind: "reranker",
    repository: "onnx-community/bge-reranker-v2-m3-ONNX",
    revision: "6f5ff65298512715a1e669753bc754d2bc8f367b",
    ...ALIKE,
    languages: "more than 100",
    parameters: 568,
    files: filesOf("onnx/model_quantized.onnx", [
      [848, "122e922dcfed6503c8721e6fe1daf090340c3d95ca7f3aa3a72730b321a51cfd"],
      [17_082_900, "8bf8afbfd11306bd872018c53bfdf2e160a56f8edbcf49933324404791c148d3"],
      [1_203, "b87c8703482b0300d3da30e201519aa641f6a450f5eb5bf1e624afbf70c74d80"],
      [570_727_094, "912fc1215c2dbff6499700534bd8d31253af01573861abbfc43afd1fab6cce5d"]
    ]),
    published: [{ measure: MIRACL_ID, value: 0.712, source: RERANKED_MIRACL }],
    note: "About 14 times the work of mmarco-minilm: 24 layers of 1,024 numbers instead of 12 of 384"
  },
  {
    id: "qwen2.5-1.5b-instruct",
    kind: "chat",
    repository: "Qwen/Qwen2.5-1.5B-Instruct-GGUF",
    revision: "91cad51170dc346986eccefdc2dd33a9da36ead9",
    licence: "Apache-2.0",
    languages: "more than 29, such as ar, de, en, es, fr, it, ja, ko, pt, ru, th, vi, zh",
    parameters: 1540,
    maxTokens: 8192,
    files: [
      {
        path: "qwen2.5-1.5b-instruct-q4_k_m.gguf",
        bytes: 1_117_320_736,
        sha256: "6a1a2eb6d15622bf3c96857206351ba97e1af16c30d7a74ee38970e434e9407e"
      }
    ],
    published: [
      { measure: "IFEval, strict prompts, %", value: 42.5, source: QWEN_REPORT },
      { measure: "MMLU-Pro, %", value: 32.4, source: QWEN_REPORT }
    ],
    note: "Quantised to 4 bits. It writes answers, a few tokens a second on a processor, and takes about 2.2 GB of memory"
  }
]

export const builtInModels: LocalCatalogue = {
  models,
  sets: {
    small: ["granite-embedding-97m", "mmarco-minilm"],
    better: ["granite-embedding-311m", "bge-reranker-v2-m3"],
    answers: ["granite-embedding-97m", "mmarco-minilm", "qwen2.5-1.5b-instruct"]
  }
}
