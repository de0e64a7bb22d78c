/** The users, and the log of who changed what, for administrators. */
import { effect, signal, untracked } from "@preact/signals"
import {
  type Change,
  createUser,
  listEntries,
  listUsers,
  OF_PAGE,
  renewUserToken,
  updateUser,
  type User,
  type WantedUser
} from "../api/administration.ts"
import { toFailure, type Failure } from "../api/RequestError.ts"
import { online } from "../api/request.ts"
import { announce } from "../ui/announce.ts"
import { makePaged } from "../page/pagedList.ts"
import { route } from "../page/route.ts"
import { session } from "../page/session.ts"

export const users = makePaged(listUsers, OF_PAGE)
export const log = makePaged(listEntries, OF_PAGE)

/** A system access token that was just made for a user: the only time that it is there. */
export const freshAccess = signal<{ readonly username: string; readonly token: string } | undefined>(
  undefined
)

/** What a user did not let be done to them. */
export const userFailure = signal<Failure | undefined>(undefined)

const refresh = (): Promise<unknown> => Promise.all([users.refresh(), log.refresh()])

/** Whether it was done. */
const done = async (act: () => Promise<string>): Promise<boolean> => {
  userFailure.value = undefined
  try {
    announce(await act())
    void refresh()
    return true
  } catch (thrown) {
    userFailure.value = toFailure(thrown)
    void refresh()
    return false
  }
}

export const makeUser = (wanted: WantedUser): Promise<boolean> =>
  done(async () => {
    const { access_token, username } = await createUser(wanted)
    freshAccess.value = { username, token: access_token }
    return `The user ${username} was made. Their token is shown once: copy it now.`
  })

/** `said` is what screen readers are told. */
export const changeUser = (change: Change, said: string): Promise<boolean> =>
  done(async () => {
    await updateUser(change)
    return said
  })

export const renewAccess = ({ id, username }: User): Promise<boolean> =>
  done(async () => {
    freshAccess.value = { username, token: await renewUserToken(id) }
    return `A new token for ${username} was made. It is shown once: copy it now.`
  })

effect(() => {
  if (route.value.view !== "administration") {
    freshAccess.value = undefined
    userFailure.value = undefined
  } else if (session.value === "open" && online.value) untracked(() => void refresh())
})
