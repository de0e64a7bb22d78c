/** One model of the list. */
import type { Model } from "../api/gateway.ts"
import { playgroundHref } from "../page/route.ts"
import { groupNote } from "./groups.ts"
import { CAPABILITY_OF } from "./operations.ts"

export const ModelRow = ({ model: { group, id, note, operation, owned_by } }: { readonly model: Model }) => {
  const capability = operation === undefined ? undefined : CAPABILITY_OF[operation]
  const takes = group === operation ? undefined : groupNote(group)
  return (
    <li>
      <code>{id}</code>
      {group !== undefined && group !== operation && <span class="group">{group}</span>}
      <p class="quiet">
        {note ?? (owned_by === undefined ? "" : `Of ${owned_by}, which says no more of it.`)}
        {takes !== undefined && (
          <>
            {note !== undefined && <br />}
            {takes}
          </>
        )}
      </p>
      {capability !== undefined && (
        <a href={playgroundHref(capability, { model: id })} aria-label={`Try ${id}`}>
          Try
        </a>
      )}
    </li>
  )
}
