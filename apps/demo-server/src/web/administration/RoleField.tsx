/** What a user may do. */
import type { User } from "../api/administration.ts"
import { Field } from "../ui/Fields.tsx"

export const ROLES: Readonly<Record<User["role"], string>> = { user: "User", admin: "Administrator" }

export const roleSaid = (said: string): User["role"] => (said === "admin" ? "admin" : "user")

export const RoleField = ({ now = "user" }: { readonly now?: User["role"] }) => (
  <Field label="Role" hint="Administrators make users and see the log.">
    {(id) => (
      <select id={id} name="role">
        {Object.entries(ROLES).map(([role, name]) => (
          <option key={role} value={role} selected={role === now}>
            {name}
          </option>
        ))}
      </select>
    )}
  </Field>
)
