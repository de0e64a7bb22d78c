/** Shares the chosen collection: its members, what each may do, and a form for another one. */
import { useEffect, useState } from "preact/hooks"
import type { MemberAccess } from "../../contract/Names.ts"
import { collection } from "../documents/collections.tsx"
import {
  changeMember,
  loadMembers,
  type Member,
  memberChanges,
  members,
  nameOf
} from "../documents/members.ts"
import { ActionForm } from "../ui/ActionForm.tsx"
import { IconButton } from "../ui/Button.tsx"
import { InputField, Select, SelectField } from "../ui/Fields.tsx"
import { LoadState } from "../ui/Notices.tsx"

const ACCESS: ReadonlyMap<string, string> = new Map([
  ["read", "Can read"],
  ["write", "Can add and remove"]
])
const KINDS: ReadonlyMap<string, string> = new Map([
  ["user", "A user"],
  ["group", "A group of your sign-in"]
])
const accessOf = (access: string): MemberAccess => (access === "write" ? "write" : "read")

const Row = ({ member }: { readonly member: Member }) => {
  const name = nameOf(member)
  return (
    <li>
      <span>
        {name}
        {"group" in member && <span class="quiet"> (group)</span>}
      </span>
      <Select
        aria-label={`Access of ${name}`}
        value={member.access}
        values={ACCESS}
        onValue={(access) => changeMember({ ...member, access: accessOf(access) })}
      />
      <IconButton
        label={`Remove ${name}`}
        sign="×"
        onClick={() => changeMember({ ...member, access: "none" })}
      />
    </li>
  )
}

export const MembersSection = () => {
  /** A new form, with empty fields, after each one that was sent. */
  const [sent, setSent] = useState(0)
  const chosen = collection.value
  useEffect(() => {
    members.value = undefined
    memberChanges.clear()
    void loadMembers()
  }, [chosen])
  const all = members.value
  return (
    <div class="stack members">
      <ActionForm
        key={sent}
        class="new-key"
        actions={["Share"]}
        send={(read) => {
          const access = accessOf(read("access"))
          const name = read("name")
          return changeMember(read("kind") === "group" ? { group: name, access } : { user: name, access })
        }}
        onSent={() => setSent(sent + 1)}
      >
        <InputField
          label={`Share ${chosen} with`}
          hint="They pay for their questions. Documents that they add count as your storage."
          name="name"
          required
          maxLength={100}
          spellcheck={false}
          placeholder="Username"
        />
        <div class="columns">
          <SelectField label="Who" name="kind" value="user" values={KINDS} />
          <SelectField label="Access" name="access" value="read" values={ACCESS} />
        </div>
      </ActionForm>
      <LoadState error={memberChanges.error.value} loaded={all !== undefined} />
      <ul class="lines three" aria-label="Members">
        {all?.map((member) => (
          <Row key={`${"user" in member} ${nameOf(member)}`} member={member} />
        ))}
      </ul>
    </div>
  )
}
