import type { Journal } from './journal.js'
import type { WarningLog } from './postgres-connections.js'
import { openPostgresJournal } from './postgres-journal.js'

/**
 * The journal in the engine that settings name.
 * @throws as the engine's own
 */
export function openEngine(
  settings: { readonly postgres: readonly string[] },
  log: WarningLog,
): Promise<Journal> {
  return openPostgresJournal(settings.postgres, log)
}
