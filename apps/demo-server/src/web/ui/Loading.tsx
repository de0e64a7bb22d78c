/** While nothing is known yet; what comes at once comes before it is seen. */
export const Loading = ({ until }: { readonly until: boolean }) =>
  until ? null : <p class="quiet loading">Loading…</p>
