/** How far something has come. Of an unknown total it says only that it moves. */
interface Props {
  readonly label: string
  readonly done: number
  readonly total: number
}

export const Meter = ({ done, label, total }: Props) => (
  <progress
    class="meter"
    aria-label={label}
    max={Math.max(1, total)}
    {...(total > 0 ? { value: done } : {})}
  />
)
