/** PostgreSQL's clock in ms. The clocks of several servers may differ by more than a lease. */
export const SHARED_CLOCK = "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT"
