/** The sign of the house: a raised gate, and the water that passes under it. */
export const Mark = () => (
  <svg class="mark" viewBox="0 0 28 28" aria-hidden="true">
    <path class="mark-posts" d="M5 3v22M23 3v22M2.5 3h23" />
    <path class="mark-gate" d="M8 7h12M8 10.5h12M8 14h12" />
    <path class="mark-water" d="M1 20c3.2-2 5.4 2 8.7 0s5.4 2 8.6 0 5.400 2 8.700 0" />
    <path class="mark-water" d="M1 24.500c3.200-2 5.400 2 8.700 0s5.400 2 8.600 0 5.400 2 8.700 0" />
  </svg>
)
