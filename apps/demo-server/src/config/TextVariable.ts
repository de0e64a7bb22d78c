/** A variable of the environment that is a text. */
import { Config, Option } from "effect"

/** Undefined where it is not set, or blank. */
export const textVariable = (name: string) =>
  Config.String(name).pipe(
    Config.option,
    Config.map(Option.filter((value) => value.trim() !== "")),
    Config.map(Option.getOrUndefined)
  )
