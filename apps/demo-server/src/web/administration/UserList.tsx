/** The users: made here, their token shown once, then enabled, disabled, given and taken from. */
import { useState } from "preact/hooks"
import { freshAccess, userFailure, users } from "./administration.ts"
import { Loading } from "../ui/Loading.tsx"
import { Problem } from "../ui/Problem.tsx"
import { FreshSecret } from "../ui/NewSecret.tsx"
import { NewUserForm } from "./NewUserForm.tsx"
import { UserRow } from "./UserRow.tsx"

export const Users = () => {
  const [making, setMaking] = useState(false)
  const fresh = freshAccess.value
  return (
    <section class="keys-list" aria-labelledby="users-title">
      <header>
        <h2 id="users-title">Users</h2>
        <button class="button" type="button" aria-expanded={making} onClick={() => setMaking(!making)}>
          New user
        </button>
      </header>
      {fresh !== undefined && (
        <FreshSecret
          key={fresh.token}
          name={`System access token of ${fresh.username}`}
          secret={fresh.token}
          what="the token"
          onSeen={() => (freshAccess.value = undefined)}
        />
      )}
      {making && <NewUserForm onDone={() => setMaking(false)} />}
      <Problem failure={userFailure.value ?? users.failure.value} />
      <Loading until={users.rows.value !== undefined || users.failure.value !== undefined} />
      <ul>
        {users.rows.value?.map((user) => (
          <UserRow key={user.id} user={user} />
        ))}
      </ul>
      {users.more.value && (
        <button class="button" type="button" onClick={users.showMore}>
          Show more users
        </button>
      )}
    </section>
  )
}
