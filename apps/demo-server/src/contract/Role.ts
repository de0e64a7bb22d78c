/** What a user may do beyond what is their own: administrators make users and read the audit log. */
import { Schema } from "effect"

export const Role = Schema.Literals(["admin", "user"])
export type Role = typeof Role.Type
