/** Responses whose main field is a list, with their token counts. */
import { Predicate } from "effect"
import { wholeUsage } from "./Numbers.ts"

/** Changes the list in this field of a response, and makes the counts of its `usage` whole. */
export const tolerateItems =
  (name: string, change: (items: ReadonlyArray<unknown>) => ReadonlyArray<unknown>) =>
  (json: unknown): unknown => {
    if (!Predicate.isObject(json)) return json
    const { [name]: items, usage } = json
    return {
      ...json,
      ...(Array.isArray(items) && { [name]: change(items) }),
      ...(usage !== undefined && { usage: wholeUsage(usage) })
    }
  }
