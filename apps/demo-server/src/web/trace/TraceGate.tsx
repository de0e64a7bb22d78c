/** The gate: a plank before every row that is not kept; through the open rows the water runs on. */
export const TraceGate = ({ rows }: { readonly rows: ReadonlyArray<boolean> }) => (
  <div class="trace-gate" aria-hidden="true">
    {rows.map((open, at) => (
      <span key={at} class={open ? "opening" : "plank"} />
    ))}
  </div>
)
