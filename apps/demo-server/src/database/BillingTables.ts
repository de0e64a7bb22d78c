/** The tables of the money, for SQLite and for PostgreSQL. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const money = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // All that a user was ever given: quota + open reserves + settled costs, at any time.
  yield* sql`ALTER TABLE users ADD COLUMN granted BIGINT NOT NULL DEFAULT 0`
  yield* sql`UPDATE users SET granted = quota`
  // A paid call: reserved, or sent where it creates something elsewhere; then settled or refunded, once. A task costs
  // what was planned when it was accepted.
  yield* sql`CREATE TABLE charges (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    token_id BIGINT,
    operation TEXT NOT NULL,
    model TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('reserved', 'sent', 'settled', 'refunded')),
    reserved BIGINT NOT NULL CHECK (reserved >= 0),
    planned BIGINT NOT NULL DEFAULT 0 CHECK (planned >= 0),
    cost BIGINT NOT NULL DEFAULT 0 CHECK (cost >= 0),
    uncollected BIGINT NOT NULL DEFAULT 0 CHECK (uncollected >= 0),
    input_tokens BIGINT NOT NULL DEFAULT 0,
    output_tokens BIGINT NOT NULL DEFAULT 0,
    task TEXT,
    lease_until BIGINT NOT NULL,
    created_at BIGINT NOT NULL
  )`
  yield* sql`CREATE INDEX charges_open ON charges (lease_until) WHERE state IN ('reserved', 'sent')`
  yield* sql`CREATE INDEX charges_by_user ON charges (user_id, created_at)`
  yield* sql`CREATE INDEX charges_by_task ON charges (task) WHERE task IS NOT NULL`
  // Of each key, the minute that it called in last, and how much in it.
  yield* sql`CREATE TABLE rate_windows (
    token_id BIGINT PRIMARY KEY,
    starts_at BIGINT NOT NULL,
    requests BIGINT NOT NULL,
    tokens BIGINT NOT NULL
  )`
  // What was answered to an Idempotency-Key; no answer yet: under way, as its charge says.
  yield* sql`CREATE TABLE idempotency (
    user_id TEXT NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    charge_id TEXT NOT NULL,
    content_type TEXT,
    answer TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, name)
  )`
  yield* sql`CREATE INDEX idempotency_by_age ON idempotency (created_at)`
})
