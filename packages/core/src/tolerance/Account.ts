/** Records with numbers as text, and lists of models that are null or have empty names. */
import { Predicate, Record } from "effect"
import { withNumericTexts } from "./Numbers.ts"

const NUMBERS = ["id", "status", "quota", "remain_quota", "expired_time"]

/** A user or a token with its numbers. */
export const tolerateRecord = (record: unknown): unknown =>
  Predicate.isObject(record) ? withNumericTexts(record, NUMBERS) : record

const hasName = (model: unknown): boolean =>
  model !== "" && !(Predicate.isObject(model) && model["id"] === "")

const listOf = (models: unknown): ReadonlyArray<unknown> =>
  Array.isArray(models) ? models.filter(hasName) : []

/** A list of models, or one for each channel, without null lists and empty names. */
const modelsOf = (data: unknown): unknown => {
  if (data === null || Array.isArray(data)) return listOf(data)
  return Predicate.isObject(data) ? Record.map(data, listOf) : data
}

/** Changes the `data` of an envelope. */
const mapData =
  (change: (data: unknown) => unknown) =>
  (json: unknown): unknown =>
    Predicate.isObject(json) && json["data"] !== undefined ? { ...json, data: change(json["data"]) } : json

export const tolerateRecordResponse = mapData(tolerateRecord)
export const tolerateModels = mapData(modelsOf)
