/** The library may be absent: what is used of it is typed and checked in TransformersModel.ts. */
declare module "@huggingface/transformers"
