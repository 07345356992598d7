import type { Journal } from './journal.js'
import type { WarningLog } from './postgres-connections.js'
import { openPostgresJournal } from './postgres-journal.js'
import { openRestateJournal } from './restate-journal.js'

export interface EngineSettings {
  readonly postgres?: readonly string[] | undefined
  readonly restate?: { readonly ingresses: readonly string[]; readonly key: string } | undefined
}

/**
 * Opens the journal in the engine that the settings name.
 * @throws as the engine does
 */
export function openEngine(settings: EngineSettings, log: WarningLog): Promise<Journal> {
  const { postgres, restate } = settings
  if (restate !== undefined) {
    return openRestateJournal(restate.ingresses, Buffer.from(restate.key, 'hex'))
  }
  if (postgres !== undefined) return openPostgresJournal(postgres, log)
  throw new Error('the journal file names no engine')
}
