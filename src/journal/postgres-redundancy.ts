import type { Redundancy } from './journal.js'
import type { Query } from './postgres-connections.js'

const NAMES_SQL = "SELECT current_setting('synchronous_standby_names') AS names"
/** Every role sees the names; only some roles see which of them commits wait for. */
const FOLLOWERS_SQL = 'SELECT application_name AS name FROM pg_stat_replication'

/**
 * Reads what a commit waits for, by the server's setting:
 * https://www.postgresql.org/docs/current/runtime-config-replication.html
 */
export async function readRedundancy(query: Query): Promise<Redundancy> {
  const { rows: settings } = await query(NAMES_SQL)
  const { needed, names } = parseStandbyNames(String(settings[0]?.names ?? ''))
  const { rows } = await query(FOLLOWERS_SQL)
  const connected = rows.filter(({ name }) => isNamed(names, String(name))).length
  return { needed, connected }
}

const COUNTED = /^\s*(?:(?:FIRST|ANY)\s+)?(\d+)\s*\((.*)\)\s*$/is
const NAME = /"((?:[^"]|"")*)"|[^\s,"]+/g

/**
 * @param text value of `synchronous_standby_names`: `a, b`, `1 (a, b)`, `FIRST 1 (a, b)` or `ANY 1
 * (a, b)`
 */
export function parseStandbyNames(text: string): {
  readonly needed: number
  readonly names: readonly string[]
} {
  const counted = COUNTED.exec(text)
  const names = [...(counted?.[2] ?? text).matchAll(NAME)].map(
    ([name, quoted]) => quoted?.replaceAll('""', '"') ?? name,
  )
  if (names.length === 0) return { needed: 0, names }
  return { needed: counted === null ? 1 : Number(counted[1]), names }
}

/** Postgres compares names case-insensitively. */
function isNamed(names: readonly string[], name: string): boolean {
  const lower = name.toLowerCase()
  return names.some((each) => each === '*' || each.toLowerCase() === lower)
}
