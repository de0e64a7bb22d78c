/** The library is optional; the used part is typed in TransformersModel.ts. */
declare module "@huggingface/transformers"
