/** Who may use the server, and who changed what: for administrators. */
import { AuditLog } from "./AuditLog.tsx"
import { Users } from "./UserList.tsx"

export const AdministrationView = () => (
  <div class="account">
    <h1>Administration</h1>
    <Users />
    <AuditLog />
  </div>
)
