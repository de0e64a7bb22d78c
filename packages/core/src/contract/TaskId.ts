/** What a task is asked for by. */
import { Schema } from "effect"

/** A task's identifier in a path. `.` and `..` would be another path. */
export const TaskId = Schema.NonEmptyString.check(
  Schema.isMaxLength(512),
  Schema.isPattern(/^(?!\.{1,2}$)[^\p{Cc}\p{Cs}]*$/u, { expected: "an identifier as the gateway gave it" })
)
