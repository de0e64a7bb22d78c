import { layerEmbedder, layerReader, layerReranker } from "@sluice/embedded"
import { embedderLaws, readerLaws, rerankerLaws } from "../laws/models.ts"

embedderLaws("The lexical embedder", layerEmbedder)
rerankerLaws("The lexical reranker", layerReranker)
readerLaws("The extractive reader", layerReader)
