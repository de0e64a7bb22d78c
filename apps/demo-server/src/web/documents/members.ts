/** The members of the chosen collection, for its owner. */
import { signal } from "@preact/signals"
import type { MemberChange, MemberList } from "../../contract/Collections.ts"
import { request } from "../api/request.ts"
import { loadCurrent, makeChanges } from "../page/calls.ts"
import { collection, pathOf, refreshCollections } from "./collections.tsx"

export type Member = MemberList["members"][number]

export const members = signal<ReadonlyArray<Member>>()

const membersPath = (name: string): string => `${pathOf(name)}/members`

export const loadMembers = (): Promise<void> =>
  loadCurrent(
    collection,
    (name) => request<MemberList>("GET", membersPath(name)),
    (loaded) => (members.value = loaded.members),
    memberChanges.error
  )

export const memberChanges = makeChanges(refreshCollections)

export const nameOf = (member: Member | MemberChange): string =>
  "user" in member ? member.user : member.group

/** Adds, changes or removes one. Resolves to whether it succeeded. */
export const changeMember = (change: MemberChange): Promise<boolean> =>
  memberChanges.send(async () => {
    const path = membersPath(collection.value)
    members.value = (await request<MemberList>("PUT", path, { body: { members: [change] } })).members
    const name = nameOf(change)
    return change.access === "none" ? `${name} has no access any more.` : `${name} has access.`
  })
